package dev.doorbell.experiments.results.print;

import java.util.Arrays;
import java.util.Locale;

/** How samples are distributed, as text: a line for each class of values, with a bar. */
public final class Histogram {
  private static final int MOST_CLASSES = 12;
  private static final int FEWEST_CLASSES = 4;
  private static final int LABEL = 10;
  private static final int COUNT = 8;

  private Histogram() {}

  /**
   * The distribution of samples.
   *
   * @param samples at least one
   * @param unit of the samples
   * @param width columns of the terminal
   */
  public static String of(double[] samples, String unit, int width) {
    double low = Arrays.stream(samples).min().orElseThrow();
    double high = Arrays.stream(samples).max().orElseThrow();
    if (low == high) {
      return "  all %s%n".formatted(Units.quantity(low, unit).replace('\u00A0', ' '));
    }
    int[] counts = new int[classes(samples, low, high)];
    for (double sample : samples) {
      int at = (int) ((sample - low) / (high - low) * counts.length);
      counts[Math.min(at, counts.length - 1)]++;
    }
    int most = Arrays.stream(counts).max().orElseThrow();
    int room = Math.clamp(width - 2L * LABEL - COUNT - 8, 10, 60);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < counts.length; i++) {
      int bar = (int) Math.ceil((double) counts[i] * room / most);
      text.append(
          String.format(
              Locale.ROOT,
              "  %" + LABEL + "s to %" + LABEL + "s  %s %d",
              end(low, high, i, counts.length, unit),
              end(low, high, i + 1, counts.length, unit),
              "#".repeat(bar),
              counts[i]));
      text.append('\n');
    }
    return text.toString();
  }

  private static String end(double low, double high, int at, int classes, String unit) {
    return Units.quantity(low + (high - low) * at / classes, unit).replace('\u00A0', ' ');
  }

  /**
   * D. Freedman and P. Diaconis, "On the histogram as a density estimator", Zeitschrift für
   * Wahrscheinlichkeitstheorie 57, 1981: classes of twice the quartiles' distance over the cube
   * root of n, within what a terminal shows.
   */
  private static int classes(double[] samples, double low, double high) {
    double[] sorted = samples.clone();
    Arrays.sort(sorted);
    double quartiles = sorted[3 * (sorted.length - 1) / 4] - sorted[(sorted.length - 1) / 4];
    double wide = 2 * quartiles / Math.cbrt(sorted.length);
    return wide == 0
        ? MOST_CLASSES
        : (int) Math.clamp(Math.ceil((high - low) / wide), FEWEST_CLASSES, MOST_CLASSES);
  }
}
