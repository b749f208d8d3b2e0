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

/** Points in which a grid moves bytes between GPU and host memory, without any HCA. */
public final class MoveFamily extends KernelFamily {
  static final String KERNEL = "host_move";

  private static final Set<String> SETTINGS = Set.of("threads", "blocks", "access");
  private static final int UNIT = 16;
  private static final int WARP = 32;
  private static final long MOST_BYTES = 256L << 20;
  private static final long NANOS_A_POINT = 200_000_000L;
  private static final long NANOS_A_BYTE = 1_000L;

  /** The family. */
  public MoveFamily() {
    super(KERNEL, "DB-P026", "it has no queue pair", SETTINGS, Set.of("goodput"));
  }

  @Override
  public boolean usesHca() {
    return false;
  }

  @Override
  protected void check(Point point, List<Problem> problems) {
    long size = point.whole("size");
    if (size % UNIT != 0 || size > MOST_BYTES) {
      problems.add(
          Problem.of("DB-P026", point.id(), "%d bytes to move".formatted(size))
              .fix("use multiples of 16 up to 256 MiB"));
    }
    if (byEngine(point) && (point.whole("blocks") > 1 || point.whole("threads") > WARP)) {
      problems.add(
          Problem.of(
                  "DB-P026",
                  point.id(),
                  "%s with %d blocks of %d threads"
                      .formatted(
                          point.text("access"), point.whole("blocks"), point.whole("threads")))
              .effect("a copy engine has neither: every such point would be the same")
              .fix("exclude them, or use one block of up to 32 threads"));
    }
  }

  private static boolean byEngine(Point point) {
    return MovePoint.Way.of(point).byEngine();
  }

  @Override
  public void check(Point point, ExecutionBackend backend, List<Problem> problems) {
    super.check(point, backend, problems);
    if (byEngine(point) && !(backend instanceof ExecutionBackend.Cuda)) {
      problems.add(
          Problem.of(
                  "DB-P026",
                  point.id(),
                  "%s on the PTX virtual machine".formatted(point.text("access")))
              .effect("it has no copy engine: what its host copies takes no time")
              .fix("use -s gpu=cuda:0, or -s access=loads,stores"));
    }
  }

  @Override
  public PointResult run(
      Point point, PointContext context, Topology topology, ExecutionBackend backend)
      throws PointFailure {
    return new MovePoint(point, context, topology, backend).run();
  }

  @Override
  public long estimateNanos(Point point) {
    return NANOS_A_POINT + NANOS_A_BYTE * point.whole("size") * point.samples() / UNIT;
  }
}
