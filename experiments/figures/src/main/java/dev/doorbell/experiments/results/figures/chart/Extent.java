package dev.doorbell.experiments.results.figures.chart;

/**
 * The values that an axis has to hold. Whiskers count as long as they leave the values half of the
 * axis; where one would take more, values alone decide, and the whisker is cut at the axis's end.
 */
final class Extent {
  private static final double LEAST_SHARE = 0.5;

  private final boolean log;
  private double low = Double.POSITIVE_INFINITY;
  private double high = Double.NEGATIVE_INFINITY;
  private double lowest = Double.POSITIVE_INFINITY;
  private double highest = Double.NEGATIVE_INFINITY;

  Extent(boolean log) {
    this.log = log;
  }

  void add(double value, double lower, double upper) {
    low = Math.min(low, value);
    high = Math.max(high, value);
    lowest = Math.min(lowest, Math.min(value, lower));
    highest = Math.max(highest, Math.max(value, upper));
  }

  /** A value without a whisker that the axis has to reach up to, such as a ceiling. */
  void reach(double value) {
    high = Math.max(high, value);
    highest = Math.max(highest, value);
  }

  boolean cut() {
    double own =
        log ? Math.max(Math.log(high / low), Math.log(2)) : Math.max(0, high) - Math.min(0, low);
    double whole = log ? Math.log(highest / lowest) : Math.max(0, highest) - Math.min(0, lowest);
    return own > 0 && own < LEAST_SHARE * whole;
  }

  double low(double otherwise) {
    double least = cut() ? low : lowest;
    return least == Double.POSITIVE_INFINITY ? otherwise : least;
  }

  double high(double otherwise) {
    double greatest = cut() ? high : highest;
    return greatest == Double.NEGATIVE_INFINITY ? otherwise : greatest;
  }
}
