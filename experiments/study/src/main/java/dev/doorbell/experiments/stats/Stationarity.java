package dev.doorbell.experiments.stats;

import java.util.Arrays;
import org.apache.commons.math3.distribution.ChiSquaredDistribution;
import org.apache.commons.math3.special.Erf;

/**
 * Tests whether samples, in the order in which they were taken, look like draws from one
 * distribution: what every interval and test here takes for granted.
 *
 * <p>Above 2^20 samples, drift and trend look at evenly spaced ones.
 *
 * @param drift median of the second half over that of the first, less one
 * @param trend p-value of the Mann-Kendall test of a monotonous trend, two-sided
 * @param lagOne correlation of a sample with the next one
 * @param dependence p-value of the Ljung-Box test over {@code lags} lags; 1 where nothing varies
 */
public record Stationarity(double drift, double trend, double lagOne, double dependence, int lags) {

  /** Fewer samples say nothing. */
  public static final int LEAST = 10;

  private static final int MOST_LAGS = 10;
  private static final int MOST_RANKED = 1 << 20;

  /**
   * Looks at samples in the order in which they were taken.
   *
   * @throws IllegalArgumentException below {@link #LEAST} samples
   */
  public static Stationarity of(double[] samples) {
    if (samples.length < LEAST) {
      throw new IllegalArgumentException(
          "%d samples say nothing; %d do".formatted(samples.length, LEAST));
    }
    int lags = Math.min(MOST_LAGS, samples.length / 5);
    double[] correlations = autocorrelation(samples, lags);
    double[] some = thinned(samples);
    return new Stationarity(
        drift(some),
        trend(some),
        correlations.length == 0 ? 0 : correlations[0],
        ljungBox(samples.length, correlations),
        lags);
  }

  private static double drift(double[] samples) {
    int half = samples.length / 2;
    double early = Quantiles.medianOfSorted(Quantiles.sortedCopy(Arrays.copyOf(samples, half)));
    double late =
        Quantiles.medianOfSorted(
            Quantiles.sortedCopy(Arrays.copyOfRange(samples, half, samples.length)));
    return early == late ? 0 : early == 0 ? Double.POSITIVE_INFINITY : (late - early) / early;
  }

  private static double[] thinned(double[] samples) {
    int step = (samples.length + MOST_RANKED - 1) / MOST_RANKED;
    if (step == 1) {
      return samples;
    }
    double[] some = new double[(samples.length + step - 1) / step];
    for (int i = 0; i < some.length; i++) {
      some[i] = samples[i * step];
    }
    return some;
  }

  /**
   * The correlations at lags 1 to {@code lags}: G. E. P. Box and G. M. Jenkins, Time Series
   * Analysis, 1976, equation 2.1.11. Zeros where nothing varies.
   */
  static double[] autocorrelation(double[] samples, int lags) {
    double mean = Arrays.stream(samples).average().orElse(0);
    double square = 0;
    for (double sample : samples) {
      square += (sample - mean) * (sample - mean);
    }
    double[] correlations = new double[lags];
    for (int lag = 1; lag <= lags && square > 0; lag++) {
      double product = 0;
      for (int i = lag; i < samples.length; i++) {
        product += (samples[i] - mean) * (samples[i - lag] - mean);
      }
      correlations[lag - 1] = product / square;
    }
    return correlations;
  }

  /** G. M. Ljung and G. E. P. Box, Biometrika 65(2), 1978. */
  static double ljungBox(int n, double[] correlations) {
    double q = 0;
    for (int lag = 1; lag <= correlations.length; lag++) {
      q += correlations[lag - 1] * correlations[lag - 1] / (n - lag);
    }
    q *= n * (n + 2.0);
    return q == 0
        ? 1
        : 1 - new ChiSquaredDistribution(null, correlations.length).cumulativeProbability(q);
  }

  /**
   * H. B. Mann, Econometrica 13(3), 1945, with the variance for ties of M. G. Kendall, Rank
   * Correlation Methods, 1975.
   */
  static double trend(double[] samples) {
    double n = samples.length;
    double[] sorted = samples.clone();
    double[] buffer = new double[samples.length];
    double inversions = inversions(sorted, buffer, 0, samples.length);
    double tiedPairs = 0;
    double tiedVariance = 0;
    for (int i = 0; i < sorted.length; ) {
      int end = i;
      while (end < sorted.length && sorted[end] == sorted[i]) {
        end++;
      }
      double t = end - i;
      tiedPairs += t * (t - 1) / 2;
      tiedVariance += t * (t - 1) * (2 * t + 5);
      i = end;
    }
    double s = n * (n - 1) / 2 - tiedPairs - 2 * inversions;
    double variance = (n * (n - 1) * (2 * n + 5) - tiedVariance) / 18;
    return variance <= 0 || s == 0 ? 1 : Erf.erfc((Math.abs(s) - 1) / Math.sqrt(2 * variance));
  }

  /** Pairs that stand in descending order; sorts the range. */
  private static double inversions(double[] values, double[] buffer, int from, int to) {
    if (to - from < 2) {
      return 0;
    }
    int middle = (from + to) >>> 1;
    double count =
        inversions(values, buffer, from, middle) + inversions(values, buffer, middle, to);
    System.arraycopy(values, from, buffer, from, to - from);
    int left = from;
    int right = middle;
    for (int i = from; i < to; i++) {
      if (right == to || (left < middle && buffer[left] <= buffer[right])) {
        values[i] = buffer[left++];
      } else {
        values[i] = buffer[right++];
        count += middle - left;
      }
    }
    return count;
  }
}
