package dev.doorbell.experiments.stats;

import org.HdrHistogram.DoubleHistogram;

/**
 * The tail of a distribution, from a histogram whose buckets are never wider than a thousandth of
 * the value (G. Tene's HdrHistogram): memory does not grow with the number of samples, and
 * histograms of several runs add up.
 *
 * <p>All values but {@code n} are in the unit of the samples, each right to 0.1 %.
 */
public record Percentiles(
    double p50, double p90, double p99, double p999, double p9999, double max, long n) {

  private static final int SIGNIFICANT_DIGITS = 3;

  /**
   * Counts samples, in any order.
   *
   * @throws IllegalArgumentException where there are none, or one is negative or not finite
   */
  public static Percentiles of(double[] samples) {
    if (samples.length == 0) {
      throw new IllegalArgumentException("no samples: a statistic needs at least one");
    }
    DoubleHistogram histogram = new DoubleHistogram(SIGNIFICANT_DIGITS);
    double max = 0;
    for (double sample : samples) {
      if (!(sample >= 0) || !Double.isFinite(sample)) {
        throw new IllegalArgumentException("a histogram cannot count " + sample);
      }
      histogram.recordValue(sample);
      max = Math.max(max, sample);
    }
    return new Percentiles(
        histogram.getValueAtPercentile(50),
        histogram.getValueAtPercentile(90),
        histogram.getValueAtPercentile(99),
        histogram.getValueAtPercentile(99.9),
        histogram.getValueAtPercentile(99.99),
        max,
        samples.length);
  }
}
