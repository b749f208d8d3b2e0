package dev.doorbell.experiments.workbench.calibration;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.GpuStream;
import dev.doorbell.core.gpu.Kernel;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;

final class PriceRig implements AutoCloseable {
  private static final long LAUNCH_NANOS = 20_000_000_000L;
  private static final long SLICE_NANOS = 1_000_000;

  /** Blocks of the largest grid: an H200 has a multiprocessor for each. */
  static final int MOST_BLOCKS = 132;

  private static final int MOST_VALUES = 2;

  final Fabric fabric;
  final Gpu gpu;
  final Memory device;
  final Memory host;

  final Memory out;

  private final GpuStream stream;
  private final int samples;
  private final int warmSamples;

  PriceRig(Fabric fabric, Gpu gpu, Workload workload, int samples) {
    this.fabric = fabric;
    this.gpu = gpu;
    this.samples = samples;
    this.warmSamples = workload.warmSamples();
    stream = gpu.createStream();
    long bytes = Math.max(workload.mostBytes(), workload.chainBytes());
    device = gpu.allocate(MemoryKind.DEVICE, bytes, "calibration, device");
    host = gpu.allocate(MemoryKind.HOST, bytes, "calibration, host");
    out =
        gpu.allocate(
            MemoryKind.DEVICE,
            Long.BYTES * (2L + 2L * MOST_BLOCKS + (long) MOST_VALUES * total()),
            "calibration, samples");
  }

  /** Samples that a kernel takes, those that warm up included. */
  int total() {
    return samples + warmSamples;
  }

  GpuModule load(String name, String ptx) {
    return gpu.load(name, ptx);
  }

  void launch(Kernel kernel, int blocks, int threads, KernelArguments arguments) {
    LaunchConfig config = LaunchConfig.of(blocks, threads).withTimeout(LAUNCH_NANOS);
    Launch launch = gpu.launch(kernel, config, arguments, stream);
    long deadline = System.nanoTime() + 2 * LAUNCH_NANOS;
    while (!launch.done()) {
      RunOutcome outcome = fabric.run(launch::done, SLICE_NANOS);
      if (outcome == RunOutcome.STALLED && !launch.done()) {
        launch.cancel("no thread can go on");
      } else if (System.nanoTime() - deadline > 0) {
        launch.cancel("the calibration's time was over");
      }
    }
    launch.check();
  }

  /** The samples of a kernel that writes one value for each, less those that warm up. */
  double[] samples() {
    return samples(0, 1);
  }

  /**
   * The samples of a kernel that writes several values for each.
   *
   * @param which of the values, from 0
   * @param values for each sample, at most {@link #MOST_VALUES}
   */
  double[] samples(int which, int values) {
    double[] found = new double[samples];
    for (int i = 0; i < found.length; i++) {
      long index = (long) (i + warmSamples) * values + which;
      found[i] = out.getLong(index * Long.BYTES);
    }
    return found;
  }

  @Override
  public void close() {
    stream.close();
    out.close();
    host.close();
    device.close();
  }

  /**
   * Amount of work for one sample: much on hardware, whose clocks are coarse; little in virtual
   * time, whose clock is exact.
   *
   * @param rounds of {@link PriceKernels#UNROLLED} operations for a sample of what takes long
   * @param quickRounds the same for what takes a nanosecond or so
   * @param chainBytes of the buffer that weak loads walk through, larger than the first cache
   * @param clockNanos during which the two clocks are compared
   * @param warmSamples are taken first and thrown away
   * @param accessesPerThread of a bandwidth kernel, at most
   * @param mostBytes that it moves in all
   * @param accesses of all its threads together that are made, but for 8 a thread; the rest takes
   *     as long as the second half of these
   * @param repeats of a bandwidth kernel, beside one to warm up; 1: there is nothing to warm up, as
   *     virtual time says the same each time
   * @param copyBytes of a large copy by the copy engine; 0: there is none worth timing
   */
  record Workload(
      int rounds,
      int quickRounds,
      int chainBytes,
      long clockNanos,
      int warmSamples,
      int accessesPerThread,
      long mostBytes,
      long accesses,
      int repeats,
      long copyBytes) {
    static final Workload ON_HARDWARE =
        new Workload(
            16, 64, 4 << 20, 2_000_000, 16, 1024, 64L << 20, Long.MAX_VALUE, 7, 256L << 20);

    static final Workload IN_VIRTUAL_TIME =
        new Workload(2, 2, 64 << 10, 20_000, 1, 1024, 64L << 20, 1L << 16, 1, 0);
  }
}
