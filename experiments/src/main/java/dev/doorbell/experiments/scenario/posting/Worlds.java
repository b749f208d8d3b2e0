package dev.doorbell.experiments.scenario.posting;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.trace.Trace;
import dev.doorbell.cuda.CudaGpu;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.util.List;

/** The worlds that such points run in: two ranks, whatever the backend. */
final class Worlds {
  private Worlds() {}

  /**
   * A world with the queue pairs and the payload that a point asks for.
   *
   * @param notes what a reader should know of it is added
   */
  static World of(
      Point point,
      Topology topology,
      ExecutionBackend backend,
      PostingShape shape,
      List<String> notes)
      throws PointFailure {
    boolean far = shape.placement().touchesGpu() || shape.payload() != MemoryKind.HOST;
    boolean copies = point.text("dma").equals("copy");
    if (far && backend instanceof ExecutionBackend.Cuda) {
      notes.add(
          copies
              ? "the software HCA reaches GPU memory by the GPU's copy engines"
              : "the software HCA reaches GPU memory by a kernel on one multiprocessor");
    }
    CudaGpu.Mover mover = copies ? CudaGpu.Mover.COPY : CudaGpu.Mover.KERNEL;
    return open(point, topology, backend, far ? mover : CudaGpu.Mover.NONE, shape.payload());
  }

  /** A world whose HCAs have nothing to do. */
  static World idle(Point point, Topology topology, ExecutionBackend backend) throws PointFailure {
    return open(point, topology, backend, CudaGpu.Mover.NONE, MemoryKind.HOST);
  }

  private static World open(
      Point point,
      Topology topology,
      ExecutionBackend backend,
      CudaGpu.Mover mover,
      MemoryKind payload)
      throws PointFailure {
    try {
      return switch (backend) {
        case ExecutionBackend.Virtual() ->
            World.timed(topology, 2, (int) point.whole("mtu"), point.seed(), Trace.NONE);
        case ExecutionBackend.Wall() -> World.direct(2, 0, SoftHcaOptions.DEFAULT);
        case ExecutionBackend.Cuda(int ordinal) ->
            World.cuda(ordinal, mover, 2, SoftHcaOptions.DEFAULT, payload);
        case ExecutionBackend.Verbs verbs -> World.verbs(verbs.hca(), verbs.ordinal(), 2, payload);
      };
    } catch (GpuException | HcaException e) {
      throw new PointFailure(
          PointFailure.Kind.FAILED,
          Problem.of("DB-P001", point.id(), String.valueOf(e.getMessage())).effect("no result"),
          e);
    }
  }
}
