package dev.doorbell.experiments.stats;

/**
 * The statistics that a number of samples can carry. Tables, figures, LaTeX, CSV, JSON and verdicts
 * all follow this one rule: a statistic that too few samples were taken for is left out, not
 * estimated.
 */
public final class SampleSize {

  /**
   * Fewest samples for a 95 % interval of a median: with five samples even the interval from the
   * least to the greatest covers the median with less than 95 %, 1 - 2 / 2^n.
   */
  public static final int INTERVAL = 6;

  /**
   * Fewest samples for a 99th percentile: with fewer it is the greatest sample, or leans on it by
   * interpolation.
   */
  public static final int P99 = 100;

  /** Looking further would ask for more repetitions than a run can have. */
  private static final int MOST = 10_000;

  private SampleSize() {}

  /** Returns true if {@code n} samples carry a 95 % interval of their median. */
  public static boolean carriesInterval(int n) {
    return n >= INTERVAL;
  }

  /** Returns true if {@code n} samples carry a 99th percentile. */
  public static boolean carriesP99(int n) {
    return n >= P99;
  }

  /**
   * The smallest p that a two-sided rank test of these sizes can give: every sample of one set
   * above every sample of the other, in both directions, out of all ways to choose which are whose.
   */
  public static double leastP(int first, int second) {
    double ways = 1;
    for (int i = 1; i <= Math.min(first, second); i++) {
      ways *= (double) (first + second - Math.min(first, second) + i) / i;
    }
    return Math.min(1, 2 / ways);
  }

  /**
   * The fewest samples in each of two sets with which every test of a family can fall below {@code
   * alpha} after Holm's correction.
   *
   * @param tests size of the family, 1 or more
   */
  public static int decidable(int tests, double alpha) {
    int n = 1;
    while (n < MOST && tests * leastP(n, n) >= alpha) {
      n++;
    }
    return n;
  }
}
