package dev.doorbell.experiments.scenario.posting;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.GpuStream;
import dev.doorbell.core.gpu.Kernel;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.kernels.KernelCatalogue;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A kernel of the catalogue, ready to be launched again and again over one grid: its job, the
 * status words and the stamps that it leaves.
 */
final class KernelRun implements AutoCloseable {
  /** A kernel is stopped after that, and none of its own waits takes longer than half of it. */
  static final long KERNEL_NANOS = 20_000_000_000L;

  private static final long SLICE_NANOS = 200_000;
  private static final ValueLayout.OfInt U32 =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final Point point;
  private final PointContext context;
  private final Fabric fabric;
  private final Gpu gpu;
  private final LaunchConfig grid;
  private final Owned owned = new Owned();
  private final Kernel kernel;
  private final GpuStream stream;
  private final Memory status;
  private final Memory stamps;
  private final Memory job;

  /**
   * @param name of the kernel and of its entry
   * @param grid how it is launched
   */
  KernelRun(
      Point point, PointContext context, Fabric fabric, Gpu gpu, String name, LaunchConfig grid) {
    this.point = point;
    this.context = context;
    this.fabric = fabric;
    this.gpu = gpu;
    this.grid = grid.withTimeout(KERNEL_NANOS);
    KernelCatalogue catalogue = KernelCatalogue.load();
    GpuModule module = owned.add(gpu.load(name, catalogue.ptx(catalogue.find(name).orElseThrow())));
    this.kernel = module.kernel(name);
    this.stream = owned.add(gpu.createStream());
    long threads = (long) grid.blocks() * grid.threadsPerBlock();
    this.status = owned.add(gpu.allocate(MemoryKind.DEVICE, Integer.BYTES * threads, "status"));
    this.stamps = owned.add(gpu.allocate(MemoryKind.DEVICE, 2 * Long.BYTES, "stamps"));
    this.job = owned.add(gpu.allocate(MemoryKind.DEVICE, JobView.BYTES, "job"));
  }

  /** Memory that lives as long as this. */
  Memory allocate(MemoryKind kind, long bytes, String label) {
    return owned.add(gpu.allocate(kind, bytes, label));
  }

  /**
   * Launches the kernel and waits until it has ended well.
   *
   * @param views of the job's queue pairs
   * @param of what the kernel is asked to do; status and stamps are filled in here
   * @return nanoseconds from the first stamp to the last
   */
  long run(long views, JobView of) throws PointFailure {
    of.status = status.address();
    of.stamps = stamps.address();
    job.putBytes(0, of.encode());
    status.fill(0, status.size(), (byte) 0xff);
    stamps.fill(0, stamps.size(), (byte) 0);
    Launch launch;
    try {
      launch = gpu.launch(kernel, grid, new KernelArguments().add(views).add(job), stream);
    } catch (GpuException e) {
      throw failure("DB-P001", String.valueOf(e.getMessage()));
    }
    await(launch);
    checkStatus();
    return stamps.getLong(Long.BYTES) - stamps.getLong(0);
  }

  private void checkStatus() throws PointFailure {
    MemorySegment words = MemorySegment.ofArray(status.getBytes(0, (int) status.size()));
    for (int thread = 0; thread < status.size() / Integer.BYTES; thread++) {
      int word = words.get(U32, (long) thread * Integer.BYTES);
      if (word != Abi.OK) {
        throw failure(
            "DB-P001",
            "thread %d of %s: %s".formatted(thread, kernel.name(), Abi.statusText(word)));
      }
    }
  }

  private void await(Launch launch) throws PointFailure {
    RunOutcome outcome = RunOutcome.DEADLINE;
    for (long left = KERNEL_NANOS; left > 0 && outcome != RunOutcome.DONE; left -= SLICE_NANOS) {
      outcome = fabric.run(launch::done, SLICE_NANOS);
      if (outcome == RunOutcome.STALLED) {
        throw failure(
            "DB-P003",
            fabric instanceof TimedFabric timed
                ? "nothing can happen any more: " + String.join("; ", timed.waiting())
                : "nothing can happen any more");
      }
      if (context.cancelled()) {
        launch.cancel("interrupted");
        throw failed(PointFailure.Kind.CANCELLED, "DB-P004", "interrupted");
      }
    }
    if (outcome != RunOutcome.DONE) {
      launch.cancel("the point's time was over");
      throw failed(
          PointFailure.Kind.TIMEOUT,
          "DB-P005",
          "%s did not end within %d ms".formatted(kernel.name(), KERNEL_NANOS / 1_000_000));
    }
    try {
      launch.check();
    } catch (GpuException e) {
      throw failure("DB-P001", String.valueOf(e.getMessage()));
    }
    fabric.quiesce();
  }

  private PointFailure failure(String code, String what) {
    return failed(PointFailure.Kind.FAILED, code, what);
  }

  private PointFailure failed(PointFailure.Kind kind, String code, String what) {
    return new PointFailure(kind, Problem.of(code, point.id(), what).effect("no result"));
  }

  @Override
  public void close() {
    owned.close();
  }
}
