package dev.doorbell.experiments.scenario.kernel;

import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.GpuStream;
import dev.doorbell.core.gpu.Kernel;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.kernels.KernelCatalogue;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A kernel of the catalogue on one GPU, which may be launched again and again over the same grid:
 * its job, the status words and the stamps that it leaves.
 */
public final class KernelJob implements AutoCloseable {
  private static final KernelCatalogue CATALOGUE = KernelCatalogue.load();

  private final Gpu gpu;
  private final LaunchConfig grid;
  private final Owned owned = new Owned();
  private final Kernel kernel;
  private final GpuStream stream;
  private final KernelStatus status;
  private final Memory stamps;
  private final Memory job;

  /**
   * Loads the kernel.
   *
   * @param name of the kernel and of its entry
   * @param grid how it is launched
   */
  public KernelJob(Gpu gpu, String name, LaunchConfig grid) {
    this(gpu, name, grid, GpuStream.Priority.USUAL);
  }

  /**
   * Loads the kernel, for a stream of its own.
   *
   * @param name of the kernel and of its entry
   * @param grid how it is launched
   * @param priority of the stream
   */
  public KernelJob(Gpu gpu, String name, LaunchConfig grid, GpuStream.Priority priority) {
    this.gpu = gpu;
    this.grid = grid;
    GpuModule module = owned.add(gpu.load(name, CATALOGUE.ptx(CATALOGUE.find(name).orElseThrow())));
    this.kernel = module.kernel(name);
    this.stream = owned.add(gpu.createStream(priority));
    this.status = owned.add(new KernelStatus(gpu, (long) grid.blocks() * grid.threadsPerBlock()));
    this.stamps = allocate(MemoryKind.DEVICE, 2 * Long.BYTES, "stamps");
    this.job = allocate(MemoryKind.DEVICE, JobView.BYTES, "job");
  }

  public String name() {
    return kernel.name();
  }

  /** Memory that is closed with this job. */
  public Memory allocate(MemoryKind kind, long bytes, String label) {
    return owned.add(gpu.allocate(kind, bytes, label));
  }

  /**
   * Writes the job, without anything of an earlier launch.
   *
   * @param views address of what the kernel sees of its queue pairs, or 0
   * @param of what the kernel is to do; status and stamps are filled in here
   * @return starts the kernel
   */
  public Supplier<Launch> prepare(long views, JobView of) {
    of.status = status.address();
    of.stamps = stamps.address();
    job.putBytes(0, of.encode());
    status.reset();
    stamps.fill(0, stamps.size(), (byte) 0);
    return () -> gpu.launch(kernel, grid, new KernelArguments().add(views).add(job), stream);
  }

  /** The first error that a thread reports, or null. */
  public @Nullable String firstError() {
    return firstError(kernel.name());
  }

  /** The first error that a thread reports, in words that name {@code owner}, or null. */
  public @Nullable String firstError(String owner) {
    return status.firstError(owner);
  }

  /** Nanoseconds at the first stamp. */
  public long started() {
    return stamps.getLong(0);
  }

  /** Nanoseconds at the last stamp. */
  public long ended() {
    return stamps.getLong(Long.BYTES);
  }

  /** Nanoseconds from the first stamp to the last. */
  public long nanos() {
    return ended() - started();
  }

  /** Numbers of 8 bytes. */
  public static long[] longs(Memory memory, int from, int count) {
    long[] values = new long[count];
    for (int i = 0; i < count; i++) {
      values[i] = memory.getLong((long) (from + i) * Long.BYTES);
    }
    return values;
  }

  @Override
  public void close() {
    owned.close();
  }
}
