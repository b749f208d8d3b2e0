package dev.doorbell.experiments.plan;

/**
 * Effect of one constant of the path model on a predicted metric, changed alone.
 *
 * @param constant as the topology has it
 * @param low the lower value that was tried
 * @param high the higher one
 * @param atLow the metric with the lower value, in its unit
 * @param atHigh the metric with the higher one
 * @param range why these values: {@code 95 % interval}, {@code ±20 %}, {@code half and double}
 */
public record Influence(
    ModelConstant constant, double low, double high, double atLow, double atHigh, String range) {

  /** Returns the distance that the metric moves between the two values, in its unit. */
  public double swing() {
    return Math.abs(atHigh - atLow);
  }
}
