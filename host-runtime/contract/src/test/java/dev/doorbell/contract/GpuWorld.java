package dev.doorbell.contract;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.GpuStream;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import java.util.function.BooleanSupplier;

/**
 * A GPU in the world of a fabric, with a stream.
 *
 * @param gpu at rank 0
 */
public record GpuWorld(Fabric fabric, Gpu gpu, GpuStream stream) implements AutoCloseable {
  private static final long LIMIT_NANOS = 60_000_000_000L;

  /** A world around {@code gpu}. */
  public static GpuWorld of(Fabric fabric, Gpu gpu) {
    return new GpuWorld(fabric, gpu, gpu.createStream());
  }

  Memory device(long bytes) {
    return gpu.allocate(MemoryKind.DEVICE, bytes, "device buffer");
  }

  Memory host(long bytes) {
    return gpu.allocate(MemoryKind.HOST, bytes, "host buffer");
  }

  GpuModule load() {
    return gpu.load(ContractKernels.NAME, ContractKernels.PTX);
  }

  Launch start(GpuModule module, String entry, LaunchConfig config, KernelArguments arguments) {
    return gpu.launch(module.kernel(entry), config, arguments, stream);
  }

  /** Starts a kernel and lets it end, well or badly. */
  Launch run(GpuModule module, String entry, LaunchConfig config, KernelArguments arguments) {
    Launch launch = start(module, entry, config, arguments);
    until(launch::done);
    return launch;
  }

  /** Runs the fabric until {@code done}, for at most a minute of the fabric's and of wall time. */
  void until(BooleanSupplier done) {
    long deadline = System.nanoTime() + LIMIT_NANOS;
    fabric.run(() -> done.getAsBoolean() || System.nanoTime() - deadline >= 0, LIMIT_NANOS);
    if (!done.getAsBoolean()) {
      throw new AssertionError("what the test waits for did not come within 60 s");
    }
  }

  @Override
  public void close() {
    gpu.close();
    fabric.close();
  }
}
