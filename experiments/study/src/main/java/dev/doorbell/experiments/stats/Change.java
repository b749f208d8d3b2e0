package dev.doorbell.experiments.stats;

import dev.doorbell.experiments.stats.Bootstrap.MedianResampler;
import java.util.Arrays;
import java.util.Optional;
import org.apache.commons.rng.UniformRandomProvider;

/**
 * Change of the samples of one metric at one point from one run to another.
 *
 * @param before median of the first run
 * @param beforeInterval its 95 % bootstrap interval; empty for too few samples
 * @param after median of the second
 * @param afterInterval its 95 % bootstrap interval; empty for too few samples
 * @param relative (after − before) / before; zero where both are zero, infinite where only the
 *     first is
 * @param interval 95 % bootstrap percentile interval of {@code relative}; empty where either run
 *     has too few samples
 * @param constant whether neither set varies
 * @param ranks the rank test and the effect size
 */
public record Change(
    double before,
    Optional<Interval> beforeInterval,
    double after,
    Optional<Interval> afterInterval,
    double relative,
    Optional<Interval> interval,
    boolean constant,
    RankComparison ranks) {

  /**
   * Compares samples, in any order, which are left as they are.
   *
   * @param seed of the bootstrap
   */
  public static Change between(double[] first, double[] second, long seed) {
    return ofOwned(first.clone(), second.clone(), seed);
  }

  /** Compares as {@link #between} does, and sorts both arrays in place: for millions of samples. */
  public static Change ofOwned(double[] first, double[] second, long seed) {
    Quantiles.sort(first);
    Quantiles.sort(second);
    double before = Quantiles.medianOfSorted(first);
    double after = Quantiles.medianOfSorted(second);
    double relative = relative(before, after);
    return new Change(
        before,
        interval(first, seed),
        after,
        interval(second, seed + 1),
        relative,
        SampleSize.carriesInterval(Math.min(first.length, second.length))
            ? Optional.of(interval(first, second, relative, seed))
            : Optional.empty(),
        constant(first) && constant(second),
        RankComparison.ofSorted(first, second));
  }

  private static Optional<Interval> interval(double[] sorted, long seed) {
    return SampleSize.carriesInterval(sorted.length)
        ? Optional.of(Bootstrap.ofSortedMedian(sorted, seed))
        : Optional.empty();
  }

  private static Interval interval(double[] first, double[] second, double relative, long seed) {
    if (constant(first) && constant(second)) {
      return new Interval(relative, relative);
    }
    UniformRandomProvider random = Bootstrap.random(seed);
    MedianResampler before = new MedianResampler(first, random);
    MedianResampler after = new MedianResampler(second, random);
    double[] replicates = new double[Bootstrap.REPLICATES];
    for (int i = 0; i < replicates.length; i++) {
      replicates[i] = relative(before.next(), after.next());
    }
    Arrays.sort(replicates);
    if (!Double.isFinite(replicates[0]) || !Double.isFinite(replicates[replicates.length - 1])) {
      return new Interval(replicates[0], replicates[replicates.length - 1]);
    }
    return Bootstrap.percentile(replicates, Bootstrap.LEVEL);
  }

  private static boolean constant(double[] sorted) {
    return sorted[0] == sorted[sorted.length - 1];
  }

  private static double relative(double before, double after) {
    if (before == after) {
      return 0;
    }
    return before == 0
        ? Math.copySign(Double.POSITIVE_INFINITY, after)
        : (after - before) / Math.abs(before);
  }
}
