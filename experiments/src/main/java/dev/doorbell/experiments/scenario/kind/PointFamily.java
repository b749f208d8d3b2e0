package dev.doorbell.experiments.scenario.kind;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import java.util.List;
import java.util.Set;

/**
 * A kind of points, such as transfers, or pushes into rings of on-chip memory.
 *
 * <p>{@link ExperimentKinds} asks them in an order whether a point is theirs, and refuses the
 * settings and metrics that other families have and this one has not. One family serves several
 * threads at once: what a point needs lives in its run.
 */
public interface PointFamily {
  /** What a config says to get such points, such as {@code kernel: push_ring}. */
  String asked();

  /** Whether a point is one of these; asked after the families before it have said no. */
  boolean takes(Point point);

  /**
   * The settings that mean something to these points. Those that mean something to every point,
   * {@code placement} and {@code size}, are not among them. A setting of other families alone has
   * to have the schema's default.
   */
  Set<String> settings();

  /** The metrics that these points may have. */
  Set<String> metrics();

  /**
   * Says what is impossible about a point, beyond settings and metrics of other families.
   *
   * @param topology that its placement names
   * @param problems are added to
   */
  void check(Point point, Topology topology, List<Problem> problems);

  /**
   * Says what of a point that backend cannot run, while others can.
   *
   * @param problems are added to
   */
  default void check(Point point, ExecutionBackend backend, List<Problem> problems) {
    if (backend instanceof ExecutionBackend.Verbs verbs) {
      problems.add(
          Problem.of(
                  "DB-P022",
                  point.id(),
                  "points of %s on hca: %s".formatted(asked(), verbs.hca().word()))
              .effect("they need parts that software HCAs alone have")
              .fix("use hca: soft"));
    }
  }

  /**
   * Runs a point in a world of its own, and closes it.
   *
   * @param backend what runs its kernels, and on whose clock
   * @throws PointFailure when there is no result to be trusted; of kind {@code WAIVED} where the
   *     backend cannot run such points
   */
  PointResult run(Point point, PointContext context, Topology topology, ExecutionBackend backend)
      throws PointFailure;

  /**
   * Whether an HCA has a part in these points. Without one, what a real GPU does is measured; with
   * one in software, it is emulated.
   */
  default boolean usesHca() {
    return true;
  }

  /** The closed forms for a point. */
  Prediction predict(Point point, Topology topology);

  /** A guess at the wall time of a point on one core, in nanoseconds. */
  long estimateNanos(Point point);
}
