package dev.doorbell.experiments.scenario.posting;

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

/** Points in which some blocks of a grid communicate while the others compute. */
public final class OverlapFamily extends KernelFamily {
  static final String KERNEL = "put_overlap";

  private static final Set<String> SETTINGS =
      Set.of(
          "sq",
          "cq",
          "record",
          "threads",
          "blocks",
          "qps",
          "depth",
          "mtu",
          "posting",
          "ringing",
          "fence",
          "payload",
          "dma",
          "proxies",
          "communicating",
          "work");
  private static final Set<String> METRICS =
      Set.of("overlap", "computing", "communicating", "together");
  private static final long NANOS_A_SAMPLE = 300_000_000L;

  /** The family. */
  public OverlapFamily() {
    super(KERNEL, "DB-P026", "some of its blocks compute while others put", SETTINGS, METRICS);
  }

  @Override
  protected void check(Point point, List<Problem> problems) {
    if (point.whole("communicating") >= point.whole("blocks")) {
      problems.add(
          Problem.of("DB-P026", point.id(), "no block is left to compute")
              .fix("use fewer communicating blocks than blocks"));
    }
  }

  @Override
  public PointResult run(
      Point point, PointContext context, Topology topology, ExecutionBackend backend)
      throws PointFailure {
    return new OverlapPoint(point, context, topology, backend).run();
  }

  @Override
  public long estimateNanos(Point point) {
    return NANOS_A_SAMPLE * point.samples();
  }
}
