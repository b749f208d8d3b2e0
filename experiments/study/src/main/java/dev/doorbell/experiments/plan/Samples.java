package dev.doorbell.experiments.plan;

import java.util.Arrays;

/**
 * Raw samples of one metric at one point, in the order in which they were taken.
 *
 * <p>Whole numbers are held exactly up to 2^53; larger ones are refused rather than rounded.
 */
public final class Samples {
  private static final long EXACT = 1L << 53;

  private final String metric;
  private final String unit;
  private final double[] values;

  private Samples(String metric, String unit, double[] values) {
    this.metric = metric;
    this.unit = unit;
    this.values = values;
  }

  /** Samples of a metric whose values are decimal numbers; none may be NaN or infinite. */
  public static Samples of(String metric, String unit, double... values) {
    for (double value : values) {
      if (!Double.isFinite(value)) {
        throw new IllegalArgumentException("a sample of %s is %s".formatted(metric, value));
      }
    }
    return new Samples(metric, unit, values.clone());
  }

  /** Samples of a metric whose values are whole numbers, such as nanoseconds or cycles. */
  public static Samples of(String metric, String unit, long... values) {
    double[] exact = new double[values.length];
    for (int i = 0; i < values.length; i++) {
      if (Math.absExact(values[i]) > EXACT) {
        throw new IllegalArgumentException(
            "a sample of %s is %d, more than a double holds exactly".formatted(metric, values[i]));
      }
      exact[i] = values[i];
    }
    return new Samples(metric, unit, exact);
  }

  /** The metric's name, such as {@code latency}. */
  public String metric() {
    return metric;
  }

  /** The unit of the values, such as {@code ns}. */
  public String unit() {
    return unit;
  }

  /** Returns the number of samples. */
  public int size() {
    return values.length;
  }

  /** The sample at an index, from 0. */
  public double value(int index) {
    return values[index];
  }

  /** A copy of the values. */
  public double[] values() {
    return values.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Samples that
        && metric.equals(that.metric)
        && unit.equals(that.unit)
        && Arrays.equals(values, that.values);
  }

  @Override
  public int hashCode() {
    return 31 * (31 * metric.hashCode() + unit.hashCode()) + Arrays.hashCode(values);
  }

  @Override
  public String toString() {
    return "%s[%s] x %d".formatted(metric, unit, values.length);
  }
}
