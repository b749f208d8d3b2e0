package dev.doorbell.experiments.run;

import dev.doorbell.experiments.plan.Point;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * Estimate of the time of a run, by what the kinds of points expect.
 *
 * @param guess the wall time of a point that is run once
 * @param repeat how often each point is run
 */
public record RunEstimate(ToLongFunction<Point> guess, int repeat) {
  /**
   * Time of a run beside its points: the virtual machine's start, the plan, the compilation of what
   * its first points use, tables and figures. Measured with {@code run --timings} over the built-in
   * experiments.
   */
  static final long AROUND_NANOS = 3_000_000_000L;

  public long ofPoint(Point point) {
    return Math.max(1, repeat) * guess.applyAsLong(point);
  }

  public long ofRun(List<Point> points, int jobs) {
    long all = points.stream().mapToLong(this::ofPoint).sum();
    long longest = points.stream().mapToLong(this::ofPoint).max().orElse(0);
    return points.isEmpty() ? 0 : AROUND_NANOS + Math.max(longest, all / jobs);
  }
}
