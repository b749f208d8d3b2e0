package dev.doorbell.interop.shim.gpu;

import dev.doorbell.core.Sha256;
import dev.doorbell.core.emulated.GpuFactory;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;

/**
 * A small kernel that runs in a world of its own while a server starts. It initializes the classes
 * that the first kernel of a program would wait for.
 */
final class FirstKernel {
  private static final int THREADS = 64;
  private static final long MOST_NANOS = 1_000_000_000L;

  private FirstKernel() {}

  /** Runs the kernel; true when it ended in time. */
  static boolean run(GpuFactory factory) throws IOException, CudaException {
    byte[] binary;
    try (InputStream in = FirstKernel.class.getResourceAsStream("first.fatbin")) {
      binary = Objects.requireNonNull(in).readAllBytes();
    }
    Sha256.of(binary);
    try (DirectFabric fabric = new DirectFabric()) {
      Gpu gpu = factory.create(fabric, Locus.gpu(0, 0));
      String ptx = FatBinary.ptx(binary, gpu.attributes().computeCapability());
      int bytes = THREADS * Float.BYTES;
      Memory numbers = gpu.allocate(MemoryKind.DEVICE, 3L * bytes, "numbers");
      KernelArguments arguments =
          new KernelArguments()
              .add(numbers)
              .add(numbers.address() + bytes)
              .add(numbers.address() + 2L * bytes)
              .add(THREADS);
      Launch launch =
          gpu.launch(
              gpu.load("first", Objects.requireNonNull(ptx)).kernel("add"),
              LaunchConfig.of(1, THREADS).withTimeout(MOST_NANOS),
              arguments,
              gpu.createStream());
      fabric.run(launch::done, MOST_NANOS);
      return launch.done();
    }
  }
}
