package dev.doorbell.experiments.stats;

import java.util.Arrays;
import java.util.function.ToDoubleFunction;
import org.apache.commons.math3.distribution.NormalDistribution;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.simple.RandomSource;

/**
 * Bootstrap confidence intervals: percentile, and bias-corrected and accelerated (BCa).
 *
 * <p>B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapters 13 and 14.
 * Seeded: the same samples and seed give the same interval.
 */
public final class Bootstrap {

  /** The confidence level of every interval that is printed without another. */
  public static final double LEVEL = 0.95;

  /**
   * Replicates behind an interval: its ends then vary by a few percent of its width from seed to
   * seed.
   */
  public static final int REPLICATES = 4000;

  private Bootstrap() {}

  /**
   * The percentile interval of the median at {@link #LEVEL}; of zero width where all samples are
   * equal.
   */
  public static Interval ofMedian(double[] samples, long seed) {
    return ofSortedMedian(Quantiles.sortedCopy(samples), seed);
  }

  static Interval ofSortedMedian(double[] sorted, long seed) {
    if (sorted[0] == sorted[sorted.length - 1]) {
      return new Interval(sorted[0], sorted[0]);
    }
    return percentile(medianReplicates(sorted, REPLICATES, seed), LEVEL);
  }

  static double[] medianReplicates(double[] sorted, int count, long seed) {
    MedianResampler resampler = new MedianResampler(sorted, random(seed));
    double[] replicates = new double[count];
    for (int i = 0; i < count; i++) {
      replicates[i] = resampler.next();
    }
    return replicates;
  }

  /**
   * The percentile interval of any statistic, by resampling.
   *
   * @param statistic a pure function that leaves its argument as it is
   * @param level coverage wanted, such as 0.95
   * @param count replicates; each costs one resample of all samples
   */
  public static Interval percentile(
      double[] samples, ToDoubleFunction<double[]> statistic, double level, int count, long seed) {
    return percentile(replicates(samples, statistic, count, seed), level);
  }

  /** The central part of replicates that holds {@code level} of them. */
  static Interval percentile(double[] replicates, double level) {
    double[] sorted = Quantiles.sortedCopy(replicates);
    double tail = (1 - checked(level)) / 2;
    return new Interval(Quantiles.ofSorted(sorted, tail), Quantiles.ofSorted(sorted, 1 - tail));
  }

  /**
   * The BCa interval of any statistic: second-order accurate where the percentile interval is
   * first-order. Falls back to the plain percentile ends where neither bias nor skew is visible,
   * and to zero width where nothing varies.
   *
   * @param statistic a pure function that leaves its argument as it is, defined for one sample
   *     fewer too
   * @param level coverage wanted, such as 0.95
   * @param count replicates; each costs one resample of all samples
   */
  public static Interval bca(
      double[] samples, ToDoubleFunction<double[]> statistic, double level, int count, long seed) {
    if (samples.length < 2) {
      throw new IllegalArgumentException("BCa needs two samples or more, got " + samples.length);
    }
    double[] sorted = Quantiles.sortedCopy(replicates(samples, statistic, count, seed));
    double bias = biasCorrection(sorted, statistic.applyAsDouble(samples.clone()));
    double acceleration = acceleration(samples, statistic);
    double tail = (1 - checked(level)) / 2;
    double lower = Quantiles.ofSorted(sorted, corrected(tail, bias, acceleration));
    double upper = Quantiles.ofSorted(sorted, corrected(1 - tail, bias, acceleration));
    return new Interval(lower, upper);
  }

  static double[] replicates(
      double[] samples, ToDoubleFunction<double[]> statistic, int count, long seed) {
    if (samples.length == 0 || count < 1) {
      throw new IllegalArgumentException("samples=" + samples.length + " replicates=" + count);
    }
    UniformRandomProvider random = random(seed);
    double[] resample = new double[samples.length];
    double[] replicates = new double[count];
    for (int i = 0; i < count; i++) {
      for (int j = 0; j < resample.length; j++) {
        resample[j] = samples[random.nextInt(samples.length)];
      }
      replicates[i] = statistic.applyAsDouble(resample);
    }
    return replicates;
  }

  /** z0, with replicates that equal the estimate counted half: a median has many of them. */
  private static double biasCorrection(double[] sortedReplicates, double estimate) {
    double below = 0;
    for (double replicate : sortedReplicates) {
      below += replicate < estimate ? 1 : replicate == estimate ? 0.5 : 0;
    }
    double count = sortedReplicates.length;
    double share = Math.clamp(below / count, 0.5 / count, 1 - 0.5 / count);
    return NORMAL.inverseCumulativeProbability(share);
  }

  /**
   * â by the jackknife, equation 14.15 of Efron and Tibshirani; zero where leaving one out changes
   * nothing.
   */
  static double acceleration(double[] samples, ToDoubleFunction<double[]> statistic) {
    int n = samples.length;
    double[] estimates = new double[n];
    for (int i = 0; i < n; i++) {
      double[] rest = Arrays.copyOf(samples, n - 1);
      System.arraycopy(samples, i + 1, rest, i, n - 1 - i);
      estimates[i] = statistic.applyAsDouble(rest);
    }
    double mean = Arrays.stream(estimates).average().orElseThrow();
    double squares = 0;
    double cubes = 0;
    for (double estimate : estimates) {
      double d = mean - estimate;
      squares += d * d;
      cubes += d * d * d;
    }
    return squares == 0 ? 0 : cubes / (6 * Math.pow(squares, 1.5));
  }

  private static double corrected(double p, double bias, double acceleration) {
    double z = bias + NORMAL.inverseCumulativeProbability(p);
    return NORMAL.cumulativeProbability(bias + z / (1 - acceleration * z));
  }

  private static double checked(double level) {
    if (!(level > 0 && level < 1)) {
      throw new IllegalArgumentException("level=" + level + " is not between 0 and 1");
    }
    return level;
  }

  /** The quantile of the standard normal distribution. */
  static double normal(double p) {
    return NORMAL.inverseCumulativeProbability(p);
  }

  static UniformRandomProvider random(long seed) {
    return RandomSource.XO_SHI_RO_256_PP.create(seed);
  }

  /** Without a generator of its own: nothing here samples it. */
  private static final NormalDistribution NORMAL = new NormalDistribution(null, 0, 1);
}
