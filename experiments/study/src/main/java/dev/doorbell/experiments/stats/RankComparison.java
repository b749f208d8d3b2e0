package dev.doorbell.experiments.stats;

import java.util.Arrays;
import org.apache.commons.math3.special.Erf;
import org.apache.commons.statistics.inference.AlternativeHypothesis;
import org.apache.commons.statistics.inference.MannWhitneyUTest;

/**
 * Compares two sets of samples by ranks alone: the test of H. B. Mann and D. R. Whitney, Annals of
 * Mathematical Statistics 18(1), 1947, and the effect size of N. Cliff, Psychological Bulletin
 * 114(3), 1993. Neither asks for a normal distribution, and an outlier counts as one sample.
 *
 * <p>The test takes samples as independent. Iterations that run into each other are not, and then
 * {@code p} is too small: see {@link Stationarity}.
 *
 * @param u pairs in which the sample of the second set is the larger, ties counted half
 * @param p probability of a difference in ranks as large or larger when both sets come from one
 *     distribution, two-sided; counted out for small sets, else by the normal approximation
 * @param delta P(second &gt; first) − P(second &lt; first), from −1 to 1
 */
public record RankComparison(double u, double p, double delta) {

  /**
   * From here on the distribution of U is taken as normal; below it is counted out without ties.
   */
  private static final int EXACT_BELOW = 50;

  /** Up to here ties are counted out as well; beyond it the correction for ties is close. */
  private static final int EXACT_WITH_TIES = 20;

  /** Compares samples, in any order, which are left as they are. */
  public static RankComparison of(double[] first, double[] second) {
    return ofSorted(Quantiles.sortedCopy(first), Quantiles.sortedCopy(second));
  }

  static RankComparison ofSorted(double[] first, double[] second) {
    double pairs = (double) first.length * second.length;
    double total = (double) first.length + second.length;
    double u = 0;
    double ties = 0;
    int i = 0;
    int j = 0;
    while (i < first.length || j < second.length) {
      double value =
          i == first.length
              ? second[j]
              : j == second.length ? first[i] : Math.min(first[i], second[j]);
      int below = i;
      int sameFirst = run(first, i, value);
      int sameSecond = run(second, j, value);
      i += sameFirst;
      j += sameSecond;
      u += sameSecond * (below + sameFirst / 2.0);
      double tied = (double) sameFirst + sameSecond;
      ties += tied * tied * tied - tied;
    }
    int most = Math.max(first.length, second.length);
    double p =
        ties == 0 && most < EXACT_BELOW
            ? exact(first, second)
            : ties > 0 && most <= EXACT_WITH_TIES
                ? permuted(first, second)
                : approximate(u, pairs, total, ties);
    return new RankComparison(u, p, 2 * u / pairs - 1);
  }

  private static int run(double[] sorted, int from, double value) {
    int end = from;
    while (end < sorted.length && sorted[end] == value) {
      end++;
    }
    return end - from;
  }

  private static double exact(double[] first, double[] second) {
    return MannWhitneyUTest.withDefaults()
        .with(AlternativeHypothesis.TWO_SIDED)
        .test(second, first)
        .getPValue();
  }

  /**
   * Counts every choice of which samples are the second set's, by the sum of their ranks: exact
   * whatever is tied. Ranks are doubled, so that those of ties are whole.
   */
  private static double permuted(double[] first, double[] second) {
    int n = second.length;
    double[] all = Arrays.copyOf(first, first.length + n);
    System.arraycopy(second, 0, all, first.length, n);
    Arrays.sort(all);
    int[] ranks = new int[all.length];
    for (int i = 0; i < all.length; ) {
      int tied = run(all, i, all[i]);
      Arrays.fill(ranks, i, i + tied, 2 * i + tied + 1);
      i += tied;
    }
    int sum = Arrays.stream(ranks).sum();
    double[][] ways = new double[n + 1][sum + 1];
    ways[0][0] = 1;
    for (int rank : ranks) {
      for (int chosen = n; chosen >= 1; chosen--) {
        for (int s = sum; s >= rank; s--) {
          ways[chosen][s] += ways[chosen - 1][s - rank];
        }
      }
    }
    long observed = 0;
    for (double value : second) {
      observed += ranks[Arrays.binarySearch(all, value)];
    }
    double middle = (double) n * (all.length + 1);
    double far = 0;
    double every = 0;
    for (int s = 0; s <= sum; s++) {
      every += ways[n][s];
      far += Math.abs(s - middle) >= Math.abs(observed - middle) ? ways[n][s] : 0;
    }
    return far / every;
  }

  /** Normal approximation, corrected for ties and for continuity. */
  private static double approximate(double u, double pairs, double total, double ties) {
    double variance = pairs / 12 * (total + 1 - ties / (total * (total - 1)));
    double distance = Math.abs(u - pairs / 2) - 0.5;
    if (!(variance > 0) || distance <= 0) {
      return 1;
    }
    return Erf.erfc(distance / Math.sqrt(2 * variance));
  }

  /**
   * Adjusts the p-values of a family of tests so that the chance of one false alarm or more among
   * all of them is held: S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure",
   * Scandinavian Journal of Statistics 6(2), 1979.
   *
   * @return in the order given, none above 1
   */
  public static double[] holm(double... p) {
    Integer[] order = new Integer[p.length];
    Arrays.setAll(order, i -> i);
    Arrays.sort(order, (a, b) -> Double.compare(p[a], p[b]));
    double[] adjusted = new double[p.length];
    double greatest = 0;
    for (int rank = 0; rank < p.length; rank++) {
      greatest = Math.max(greatest, Math.min(1, (p.length - rank) * p[order[rank]]));
      adjusted[order[rank]] = greatest;
    }
    return adjusted;
  }
}
