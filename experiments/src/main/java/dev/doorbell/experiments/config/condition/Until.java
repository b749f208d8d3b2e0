package dev.doorbell.experiments.config.condition;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * When a point has samples enough: {@code ci95(latency.p50) < 2%} asks that the 95 % interval of
 * the median be no wider than 2 % of it to either side.
 *
 * @param metric whose median is meant
 * @param bound half the interval's width over the median
 * @param text as its author wrote it
 */
public record Until(String metric, double bound, String text) {
  private static final Pattern FORM =
      Pattern.compile("\\s*ci95\\(\\s*([a-z][a-z0-9._]*)\\.p50\\s*\\)\\s*<\\s*([0-9.]+)\\s*%\\s*");

  /** Reads a condition; nothing where it is none. */
  public static Optional<Until> parse(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      return Optional.empty();
    }
    try {
      double percent = Double.parseDouble(matcher.group(2));
      return percent > 0
          ? Optional.of(new Until(matcher.group(1), percent / 100, text.strip()))
          : Optional.empty();
    } catch (NumberFormatException _) {
      return Optional.empty();
    }
  }
}
