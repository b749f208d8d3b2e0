package dev.doorbell.experiments.scenario.recovery;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.scenario.kind.KernelFamily;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import java.util.List;
import java.util.Set;

/** Points whose kernel is helped over a failure in the middle of its run. */
public final class RecoveryFamily extends KernelFamily {
  private static final Set<String> SETTINGS =
      Set.of("remedy", "fault", "silence", "hold", "threads", "window");
  private static final Set<String> METRICS =
      Set.of(
          "detect",
          "recover",
          "switch",
          "return",
          "outstanding",
          "executed",
          "replayed",
          "lost.bytes",
          "duplicated.bytes",
          "lost.atomics",
          "repeated.atomics");
  private static final int MOST_BYTES = 64 << 10;
  private static final int MOST_THREADS = 32;
  private static final long NANOS_A_SAMPLE = 70_000_000;

  /** The family. */
  public RecoveryFamily() {
    super(
        KeptKernel.KERNEL,
        "DB-P024",
        "it has safe points, ports and a host of its own",
        SETTINGS,
        METRICS);
  }

  @Override
  protected void check(Point point, List<Problem> problems) {
    long size = point.whole("size");
    if (size < Long.BYTES || size % Long.BYTES != 0 || size > MOST_BYTES) {
      problems.add(
          Problem.of("DB-P024", point.id(), "a message of %d bytes".formatted(size))
              .fix("use multiples of 8 up to 64 KiB"));
    }
    if (point.whole("threads") > MOST_THREADS) {
      problems.add(
          Problem.of("DB-P024", point.id(), "%d threads".formatted(point.whole("threads")))
              .effect("a ring of 64 blocks is shared by all of them")
              .fix("use at most 32"));
    }
    if (point.whole("silence") < RecoveryPoint.POLL_NANOS) {
      problems.add(
          Problem.of("DB-P024", point.id(), "silence of %d ns".formatted(point.whole("silence")))
              .effect("the host looks every 5 us")
              .fix("use at least 5000; more than 4200000 outlasts the retries"));
    }
    for (String metric : point.metrics()) {
      boolean ofDemotion = metric.equals("switch") || metric.equals("return");
      boolean ofFailure = !RecoveryPoint.COUNTED.contains(metric);
      if (METRICS.contains(metric)
          && ((ofDemotion && !point.text("remedy").equals("demote"))
              || (ofFailure && point.text("fault").equals(RecoveryPoint.NO_FAULT)))) {
        problems.add(
            Problem.of(
                    "DB-P024",
                    point.id(),
                    "%s is not measured with fault %s and remedy %s"
                        .formatted(metric, point.text("fault"), point.text("remedy")))
                .fix(
                    "switch and return are measured with remedy: demote, sampled metrics with a"
                        + " fault"));
      }
    }
  }

  @Override
  public PointResult run(
      Point point, PointContext context, Topology topology, ExecutionBackend backend)
      throws PointFailure {
    boolean wall = !(backend instanceof ExecutionBackend.Virtual);
    return new RecoveryPoint(point, context, topology, wall).run();
  }

  @Override
  public long estimateNanos(Point point) {
    return NANOS_A_SAMPLE * point.samples();
  }
}
