package dev.doorbell.experiments.scenario.push;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.scenario.kind.KernelFamily;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import java.util.List;
import java.util.Set;

/** Points whose kernel pushes messages into a ring of on-chip memory. */
public final class PushFamily extends KernelFamily {
  private static final String KERNEL = "push_ring";
  private static final Set<String> SETTINGS =
      Set.of(
          "slots",
          "load",
          "full",
          "rtt",
          "release",
          "batch",
          "senders",
          "policy",
          "switch",
          "buffer",
          "mark",
          "producers",
          "window");
  private static final Set<String> METRICS =
      Set.of(
          "goodput",
          "full",
          "wait",
          "stall",
          "completion",
          "retransmitted",
          "pulled",
          "lost",
          "marked",
          "pauses");
  private static final int UNIT = 16;
  private static final int MOST_BYTES = 1 << 20;
  private static final long NANOS_A_POINT = 150_000_000L;
  private static final long NANOS_A_SENDER = 10_000_000L;
  private static final long NANOS_A_BATCH = 90_000_000L;

  /** The family. */
  public PushFamily() {
    super(KERNEL, "DB-P021", "it has rings of its own, and no queue pair", SETTINGS, METRICS);
  }

  @Override
  protected void check(Point point, List<Problem> problems) {
    long size = point.whole("size");
    if (size % UNIT != 0 || size > MOST_BYTES) {
      problems.add(
          Problem.of("DB-P021", point.id(), "a pushed message of %d bytes".formatted(size))
              .fix("use multiples of 16 up to 1 MiB"));
    }
    boolean random = point.whole("load") > 0;
    if (random && point.whole("senders") > 1) {
      problems.add(
          Problem.of("DB-P021", point.id(), "random load of more than one sender")
              .fix("use load: 0 or senders: 1"));
    }
    if (point.whole("producers") > 1 && (random || point.text("full").equals("drop"))) {
      problems.add(
          Problem.of("DB-P021", point.id(), "several producers at random times, or lossy ones")
              .fix("use load: 0 and full: stall, or producers: 1"));
    }
    for (String metric : point.metrics()) {
      boolean either = metric.equals("wait");
      if (METRICS.contains(metric) && !either && metric.equals("full") != random) {
        problems.add(
            Problem.of(
                    "DB-P021",
                    point.id(),
                    "%s is not measured with load %d".formatted(metric, point.whole("load")))
                .fix(
                    "random load measures full and wait; load 0 wait, goodput, stall, completion"
                        + " and counters"));
      }
    }
  }

  @Override
  public PointResult run(
      Point point, PointContext context, Topology topology, ExecutionBackend backend)
      throws PointFailure {
    boolean wall = !(backend instanceof ExecutionBackend.Virtual);
    return new PushPoint(point, context, topology, wall).run();
  }

  @Override
  public Prediction predict(Point point, Topology topology) {
    return PushPrediction.of(point, topology.network().bytesPerNano());
  }

  @Override
  public long estimateNanos(Point point) {
    return NANOS_A_POINT
        + NANOS_A_SENDER * point.whole("senders")
        + (point.whole("load") > 0 ? NANOS_A_BATCH * (point.warmup() + point.samples()) : 0);
  }
}
