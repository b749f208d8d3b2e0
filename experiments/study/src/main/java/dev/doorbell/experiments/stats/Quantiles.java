package dev.doorbell.experiments.stats;

import java.util.Arrays;
import org.apache.commons.statistics.descriptive.Quantile;
import org.apache.commons.statistics.descriptive.Quantile.EstimationMethod;

/**
 * Quantiles by linear interpolation between order statistics: definition 7 of Hyndman and Fan,
 * "Sample Quantiles in Statistical Packages", The American Statistician 50(4), 1996, which NumPy
 * and R use by default, so that a reader who recomputes a figure from the raw samples gets the same
 * digits.
 */
final class Quantiles {

  private static final Quantile TYPE_7 =
      Quantile.withDefaults().with(EstimationMethod.HF7).withCopy(false);

  private Quantiles() {}

  static double ofSorted(double[] sorted, double p) {
    return TYPE_7.evaluate(sorted.length, i -> sorted[i], p);
  }

  static double medianOfSorted(double[] sorted) {
    int upper = sorted.length / 2;
    return (sorted.length & 1) == 1 ? sorted[upper] : middle(sorted[upper - 1], sorted[upper]);
  }

  /** Halfway between two neighbours; exact where they are equal, and never overflows. */
  static double middle(double low, double high) {
    return low + (high - low) / 2;
  }

  /**
   * An ascending copy. Refuses an empty array and values that are not finite, which no clock or
   * counter produces.
   */
  static double[] sortedCopy(double[] samples) {
    double[] sorted = samples.clone();
    sort(sorted);
    return sorted;
  }

  static void sort(double[] sorted) {
    if (sorted.length == 0) {
      throw new IllegalArgumentException("no samples: a statistic needs at least one");
    }
    Arrays.sort(sorted);
    double first = sorted[0];
    double last = sorted[sorted.length - 1];
    if (!Double.isFinite(first) || !Double.isFinite(last)) {
      throw new IllegalArgumentException(
          "samples must be finite; the least is " + first + ", the greatest " + last);
    }
  }
}
