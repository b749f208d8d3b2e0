package dev.doorbell.experiments.config.kernel;

import java.util.Map;

/**
 * A metric that a kernel brings: it gets an array as a parameter of that name, zero at first, and
 * writes a number for each measured iteration, or one for the launch.
 *
 * @param type {@code U64} or {@code F64}
 * @param unit of its samples, as built-in metrics have it, such as {@code ns}
 * @param higherIsBetter which direction counts as better
 * @param across which ranks' numbers are samples
 * @param once one number for a launch, not one for each iteration
 */
public record KernelMetric(
    String name,
    String description,
    NumberType type,
    String unit,
    boolean higherIsBetter,
    Across across,
    boolean once) {

  /**
   * Whether higher values of a metric are better: of rates, unless a kernel that brings it says
   * otherwise; of everything else (times, shares, counts) lower ones are.
   */
  public static boolean higherIsBetter(
      Map<String, KernelMetric> brought, String metric, String unit) {
    KernelMetric own = brought.get(metric);
    return own != null ? own.higherIsBetter : unit.endsWith("/s") || unit.endsWith("/ns");
  }

  /** How a sample comes from the numbers that ranks write at the same index. */
  public enum Across {
    /** Rank 0's. */
    FIRST,
    /** Each rank's is a sample; those of rank 0 come first. */
    ALL,
    MAX,
    MIN,
    SUM,
    MEAN
  }
}
