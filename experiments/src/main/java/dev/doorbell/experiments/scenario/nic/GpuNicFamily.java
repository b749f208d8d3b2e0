package dev.doorbell.experiments.scenario.nic;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.scenario.kind.KernelFamily;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import java.util.List;
import java.util.Set;

/** Points at which a GPU is the NIC of another one. */
public final class GpuNicFamily extends KernelFamily {
  private static final String KERNEL = "gpu_nic";
  private static final Set<String> SETTINGS =
      Set.of("path", "producers", "engines", "depth", "window", "slots");
  private static final Set<String> METRICS = Set.of("latency", "goodput");
  private static final int UNIT = 16;
  private static final int MOST_INLINE = 28;
  private static final long MOST_BYTES = 16 << 20;
  private static final long NANOS_A_POINT = 200_000_000L;

  /** The family. */
  public GpuNicFamily() {
    super(KERNEL, "DB-P021", "which kernels send follows from path and metric", SETTINGS, METRICS);
  }

  @Override
  public boolean usesHca() {
    return false;
  }

  @Override
  protected void check(Point point, List<Problem> problems) {
    String path = point.text("path");
    if (!NicPath.words().contains(path)) {
      refuse(
          point,
          problems,
          "path %s to a GPU that is a NIC".formatted(path),
          "use one of " + String.join(", ", NicPath.words()));
      return;
    }
    long size = point.whole("size");
    if (size % UNIT != 0 || size > MOST_BYTES) {
      refuse(
          point,
          problems,
          "a message of %d bytes".formatted(size),
          "use multiples of 16 up to 16 MiB");
    }
    if (NicPath.of(path) == NicPath.INLINE && size > MOST_INLINE) {
      refuse(
          point,
          problems,
          "%d bytes inline".formatted(size),
          "this NIC reads WQEs of one block, which hold 28: exclude: { path: %s, size: \">28\" }"
              .formatted(path));
    }
    if (point.whole("engines") % point.whole("producers") != 0) {
      refuse(
          point,
          problems,
          "%d engines for %d producers".formatted(point.whole("engines"), point.whole("producers")),
          "use a multiple, so that each queue has as many");
    }
    long depth = point.whole("depth");
    if (Long.bitCount(depth) != 1 || depth < point.whole("window")) {
      refuse(
          point,
          problems,
          "a send ring of %d blocks for a window of %d".formatted(depth, point.whole("window")),
          "use a power of two that is no less than the window");
    }
  }

  @Override
  public PointResult run(
      Point point, PointContext context, Topology topology, ExecutionBackend backend)
      throws PointFailure {
    if (backend instanceof ExecutionBackend.Virtual && !hasTwoGpus(topology)) {
      throw new PointFailure(
          PointFailure.Kind.WAIVED,
          Problem.of(
                  "DB-P022",
                  point.id(),
                  "placement %s has no two GPUs with a path between them"
                      .formatted(topology.name()))
              .effect("the point was not run")
              .fix("use placement: two-gpus, or clock: wall"));
    }
    return new GpuNicPoint(point, context, topology, backend).run();
  }

  private static boolean hasTwoGpus(Topology topology) {
    return topology.has(Locus.Part.GPU, GpuPair.NIC.index())
        && topology.pathBetween(Topology.component(GpuPair.SENDER), Topology.component(GpuPair.NIC))
            != null;
  }

  @Override
  public long estimateNanos(Point point) {
    return NANOS_A_POINT;
  }
}
