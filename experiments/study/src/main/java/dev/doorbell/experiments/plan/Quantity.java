package dev.doorbell.experiments.plan;

/**
 * A number with its unit, such as a counter of one point.
 *
 * @param unit empty for a plain count
 */
public record Quantity(double value, String unit) {
  public Quantity {
    if (!Double.isFinite(value)) {
      throw new IllegalArgumentException("not a quantity: " + value);
    }
  }

  /** A plain count. */
  public static Quantity count(long value) {
    return new Quantity(value, "");
  }
}
