package dev.doorbell.experiments.stats;

import dev.doorbell.experiments.stats.Bootstrap.MedianResampler;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalDouble;
import org.apache.commons.math3.distribution.TDistribution;

/**
 * Statistics that are reported of a set of samples: the median with its interval, the tail and the
 * range, never a mean alone. {@link SampleSize} says which of them the number of samples supports.
 *
 * <p>All values but {@code n} are in the unit of the samples.
 *
 * @param median the sample median
 * @param interval the median's 95 % bootstrap percentile interval, of no width where the samples do
 *     not vary; empty for too few samples
 * @param p99 99th percentile; empty for too few samples
 * @param min least sample
 * @param max greatest sample
 * @param n number of samples
 */
public record Summary(
    double median, Optional<Interval> interval, OptionalDouble p99, double min, double max, int n) {

  /**
   * Summarises samples, in any order, which are left as they are. Costs a sort and a constant: see
   * {@link MedianResampler}.
   *
   * @throws IllegalArgumentException where there are no samples, or one is not finite
   */
  public static Summary of(double[] samples, long seed) {
    double[] sorted = Quantiles.sortedCopy(samples);
    int n = sorted.length;
    return new Summary(
        Quantiles.medianOfSorted(sorted),
        SampleSize.carriesInterval(n)
            ? Optional.of(Bootstrap.ofSortedMedian(sorted, seed))
            : Optional.empty(),
        SampleSize.carriesP99(n)
            ? OptionalDouble.of(Quantiles.ofSorted(sorted, 0.99))
            : OptionalDouble.empty(),
        sorted[0],
        sorted[n - 1],
        n);
  }

  /**
   * Summarises samples that several processes took one after the other: the median is that of the
   * processes' medians, and its interval covers what differs between them.
   *
   * @param processes 1 for samples of one process, or of virtual time
   */
  public static Summary of(double[] samples, int processes, long seed) {
    Summary pooled = of(samples, seed);
    if (processes < 2 || samples.length % processes != 0) {
      return pooled;
    }
    double[] medians = Processes.medians(samples, processes);
    return new Summary(
        Quantiles.medianOfSorted(Quantiles.sortedCopy(medians)),
        Optional.of(Processes.interval(medians)),
        pooled.p99,
        pooled.min,
        pooled.max,
        pooled.n);
  }

  /** The ends of a whisker: the interval, or the median twice where there is none. */
  public Interval whisker() {
    return interval.orElseGet(() -> new Interval(median, median));
  }

  /**
   * Half the interval's width over the median: 0.01 reads "known to ±1 %". Zero where the median is
   * zero, infinite where there is no interval.
   */
  public double relativeHalfWidth() {
    if (interval.isEmpty()) {
      return Double.POSITIVE_INFINITY;
    }
    return median == 0 ? 0 : interval.get().width() / 2 / Math.abs(median);
  }

  /**
   * Samples that several processes took, one process after the other and each as many. In wall time
   * processes differ by more than the samples inside one: where its memory lies, which code its
   * compiler chose. A process is then one observation, and its median is what it observed.
   */
  public static final class Processes {
    private Processes() {}

    /**
     * The median of each process's samples.
     *
     * @param samples those of the first process, then those of the second, and so on
     * @throws IllegalArgumentException where they cannot be as many from each
     */
    public static double[] medians(double[] samples, int processes) {
      if (processes < 1 || samples.length == 0 || samples.length % processes != 0) {
        throw new IllegalArgumentException(
            "%d samples are not of %d processes".formatted(samples.length, processes));
      }
      int each = samples.length / processes;
      double[] medians = new double[processes];
      for (int i = 0; i < processes; i++) {
        medians[i] =
            Quantiles.medianOfSorted(
                Quantiles.sortedCopy(Arrays.copyOfRange(samples, i * each, (i + 1) * each)));
      }
      return medians;
    }

    /**
     * Student's 95 % interval of what processes observe, from their medians: it covers the
     * difference between processes, and is wide where they are few. Times and rates differ by
     * factors, so it is one of their logarithms; of values that are not all positive, one of the
     * values.
     *
     * @param medians of two processes or more
     */
    static Interval interval(double[] medians) {
      if (Arrays.stream(medians).allMatch(each -> each > 0)) {
        Interval logarithms = student(Arrays.stream(medians).map(Math::log).toArray());
        return new Interval(Math.exp(logarithms.lower()), Math.exp(logarithms.upper()));
      }
      return student(medians);
    }

    private static Interval student(double[] values) {
      int n = values.length;
      double mean = Arrays.stream(values).average().orElseThrow();
      double squares = Arrays.stream(values).map(each -> (each - mean) * (each - mean)).sum();
      double error = Math.sqrt(squares / (n - 1) / n);
      double t = new TDistribution(null, n - 1.0).inverseCumulativeProbability(0.975);
      return new Interval(mean - t * error, mean + t * error);
    }
  }
}
