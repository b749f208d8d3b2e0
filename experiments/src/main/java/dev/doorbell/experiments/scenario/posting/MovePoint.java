package dev.doorbell.experiments.scenario.posting;

import dev.doorbell.core.Basis;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.cuda.CudaGpu;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import dev.doorbell.experiments.scenario.world.World;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * One point: a grid moves the same bytes again and again between GPU and host memory; what arrived
 * is compared after each launch.
 */
final class MovePoint {
  /** The least that a launch of a real GPU moves: clocks tick in steps of some nanoseconds. */
  private static final long BYTES_ON_GPU = 64L << 20;

  /** Enough for a hundred round trips of a lone warp. */
  private static final int MOST_PASSES_ON_GPU = 256;

  private final Point point;
  private final PointContext context;
  private final Topology topology;
  private final ExecutionBackend backend;
  private final int bytes;
  private long verified;

  MovePoint(Point point, PointContext context, Topology topology, ExecutionBackend backend) {
    this.point = point;
    this.context = context;
    this.topology = topology;
    this.backend = backend;
    this.bytes = (int) point.whole("size");
  }

  /** How the point moves its bytes. */
  enum Way {
    LOADS("loads", true, false),
    STORES("stores", false, false),
    COPY_IN("copy-in", true, true),
    COPY_OUT("copy-out", false, true);

    private final String word;
    private final boolean fromHost;
    private final boolean byEngine;

    Way(String word, boolean fromHost, boolean byEngine) {
      this.word = word;
      this.fromHost = fromHost;
      this.byEngine = byEngine;
    }

    static Way of(Point point) {
      String access = point.text("access");
      for (Way way : values()) {
        if (way.word.equals(access)) {
          return way;
        }
      }
      throw new IllegalStateException("the schema let through access " + access);
    }

    /** Whether the copy engine does it, and no kernel. */
    boolean byEngine() {
      return byEngine;
    }
  }

  PointResult run() throws PointFailure {
    LaunchConfig grid = LaunchConfig.of((int) point.whole("blocks"), (int) point.whole("threads"));
    double[] rates = new double[point.samples()];
    Way way = Way.of(point);
    try (World world = Worlds.idle(point, topology, backend)) {
      Gpu gpu = world.rank(0).gpu();
      try (Memory device = gpu.allocate(MemoryKind.DEVICE, bytes, "in the GPU");
          Memory host = gpu.allocate(MemoryKind.HOST, bytes, "in the host");
          KernelRun kernel =
              new KernelRun(point, context, world.fabric(), gpu, MoveFamily.KERNEL, grid)) {
        Mover mover =
            way.byEngine && gpu instanceof CudaGpu real
                ? (from, to, times) -> copies(real, from, to, times)
                : (from, to, times) -> launch(kernel, from, to, times);
        for (int i = 0; i < rates.length; i++) {
          rates[i] =
              way.fromHost
                  ? once(mover, host, device, point.seed() + i)
                  : once(mover, device, host, point.seed() + i);
        }
      }
    } catch (GpuException e) {
      throw new PointFailure(
          PointFailure.Kind.FAILED,
          Problem.of("DB-P001", point.id(), String.valueOf(e.getMessage())).effect("no result"),
          e);
    }
    return new PointResult(
        onGpu() ? Basis.MEASURED : backend.basis(),
        List.of(Samples.of("goodput", "GB/s", rates)),
        new LinkedHashMap<>(Map.of()),
        verified,
        List.of());
  }

  private boolean onGpu() {
    return backend instanceof ExecutionBackend.Cuda;
  }

  /** Moves all bytes from one memory to another, so many times, and says how long it took. */
  private interface Mover {
    double nanos(Memory from, Memory to, int times) throws PointFailure;
  }

  private static double copies(CudaGpu gpu, Memory from, Memory to, int times) {
    gpu.copyNanos(from, to, 1);
    return gpu.copyNanos(from, to, times);
  }

  private static double launch(KernelRun kernel, Memory from, Memory to, int times)
      throws PointFailure {
    JobView job = new JobView();
    job.local = from.address();
    job.remote = to.address();
    job.bytes = from.size();
    job.iterations = times;
    job.warmup = 1;
    return kernel.run(0, job);
  }

  private double once(Mover mover, Memory from, Memory to, long seed) throws PointFailure {
    byte[] sent = new byte[bytes];
    new SplittableRandom(seed).nextBytes(sent);
    from.putBytes(0, sent);
    to.fill(0, bytes, (byte) 0);
    int times = onGpu() ? Math.clamp(BYTES_ON_GPU / bytes, 1, MOST_PASSES_ON_GPU) : 1;
    double nanos = mover.nanos(from, to, times);
    int wrong = Arrays.mismatch(sent, to.getBytes(0, bytes));
    if (wrong >= 0) {
      throw new PointFailure(
          PointFailure.Kind.MISMATCH,
          Problem.of("DB-P002", point.id(), "byte %d differs at the target".formatted(wrong))
              .effect("the point has no result"));
    }
    verified += bytes;
    return (double) bytes * times / nanos;
  }
}
