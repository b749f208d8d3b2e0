package dev.doorbell.experiments.plan;

/**
 * Runs points. Points are independent: one runner is called from several threads at once, each call
 * makes its own session and closes it, and the result depends on the point alone.
 */
@FunctionalInterface
public interface PointRunner {
  /** Runs one point and verifies every byte that it moved. */
  PointResult run(Point point, PointContext context) throws PointFailure;
}
