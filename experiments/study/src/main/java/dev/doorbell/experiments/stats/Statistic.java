package dev.doorbell.experiments.stats;

import java.util.Arrays;
import java.util.Optional;

/**
 * One number that stands for a point's samples, where a user asks for another one than the median:
 * mean, least, greatest, or a percentile.
 */
public final class Statistic {
  /** Replicates behind the interval of a mean, each of which draws all samples again. */
  private static final int REPLICATES = 1000;

  private final String word;

  private Statistic(String word) {
    this.word = word;
  }

  /**
   * The statistic of a word.
   *
   * @param word {@code median}, {@code mean}, {@code min}, {@code max}, or a percentile such as
   *     {@code p99}; empty is the median
   */
  public static Statistic of(String word) {
    return new Statistic(word.isEmpty() || word.equals("p50") ? "median" : word);
  }

  public String word() {
    return word;
  }

  /** Returns whether it is the median. */
  public boolean isMedian() {
    return word.equals("median");
  }

  /**
   * Fewest samples that carry it: of a percentile as many as it takes for one sample to lie beyond
   * it, which for the 99th is {@link SampleSize#P99}.
   */
  public int needs() {
    return word.startsWith("p") ? (int) Math.ceil(1 / Math.min(share(), 1 - share()) - 1e-9) : 1;
  }

  /**
   * Its value.
   *
   * @param samples in any order, left as they are
   * @throws IllegalArgumentException where there are none, or one is not finite
   */
  public double value(double[] samples) {
    double[] sorted = Quantiles.sortedCopy(samples);
    return switch (word) {
      case "median" -> Quantiles.medianOfSorted(sorted);
      case "mean" -> mean(sorted);
      case "min" -> sorted[0];
      case "max" -> sorted[sorted.length - 1];
      default -> Quantiles.ofSorted(sorted, share());
    };
  }

  /** Its 95 % bootstrap interval: of medians and means, where the samples carry one. */
  public Optional<Interval> interval(double[] samples, long seed) {
    if (!SampleSize.carriesInterval(samples.length)) {
      return Optional.empty();
    }
    return switch (word) {
      case "median" -> Optional.of(Bootstrap.ofMedian(samples, seed));
      case "mean" ->
          Optional.of(
              Bootstrap.percentile(samples, Statistic::mean, Bootstrap.LEVEL, REPLICATES, seed));
      default -> Optional.empty();
    };
  }

  private static double mean(double[] samples) {
    return Arrays.stream(samples).average().orElseThrow();
  }

  private double share() {
    double share = Double.parseDouble(word.substring(1)) / 100;
    return Math.clamp(share, 1e-6, 1 - 1e-6);
  }
}
