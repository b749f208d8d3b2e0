package dev.doorbell.experiments.stats;

/**
 * A confidence interval, in the unit of the samples that it was computed from.
 *
 * @param lower lower end, inclusive
 * @param upper upper end, inclusive; equal to {@code lower} where the samples do not vary
 */
public record Interval(double lower, double upper) {

  public Interval {
    if (!(lower <= upper)) {
      throw new IllegalArgumentException("lower=" + lower + " is not at most upper=" + upper);
    }
  }

  public double width() {
    return upper - lower;
  }

  public boolean contains(double value) {
    return lower <= value && value <= upper;
  }
}
