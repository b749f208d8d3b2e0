package dev.doorbell.experiments.stats;

/**
 * What is reported of a set of samples: the median with its interval, the tail and the range, never
 * a mean alone.
 *
 * <p>All values but {@code n} are in the unit of the samples.
 *
 * @param median the sample median
 * @param lower lower end of the median's 95 % bootstrap percentile interval
 * @param upper upper end of it; equal to {@code lower} where the samples do not vary
 * @param p99 99th percentile; below about a hundred samples it leans on the greatest of them
 * @param min least sample
 * @param max greatest sample
 * @param n number of samples
 */
public record Summary(
    double median, double lower, double upper, double p99, double min, double max, int n) {

  /**
   * Summarises samples, in any order, which are left as they are. Costs a sort and a constant: see
   * {@link MedianResampler}.
   *
   * @throws IllegalArgumentException where there are no samples, or one is not finite
   */
  public static Summary of(double[] samples, long seed) {
    double[] sorted = Quantiles.sortedCopy(samples);
    Interval interval = Bootstrap.ofSortedMedian(sorted, seed);
    return new Summary(
        Quantiles.medianOfSorted(sorted),
        interval.lower(),
        interval.upper(),
        Quantiles.ofSorted(sorted, 0.99),
        sorted[0],
        sorted[sorted.length - 1],
        sorted.length);
  }

  /**
   * Half the interval's width over the median: 0.01 reads "known to ±1 %". Zero where the median is
   * zero.
   */
  public double relativeHalfWidth() {
    return median == 0 ? 0 : (upper - lower) / 2 / Math.abs(median);
  }
}
