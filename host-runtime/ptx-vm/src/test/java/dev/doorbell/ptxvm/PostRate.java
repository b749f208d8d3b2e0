package dev.doorbell.ptxvm;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.gpu.*;
import dev.doorbell.core.memory.*;
import dev.doorbell.ptxvm.launch.*;
import java.nio.file.*;

public final class PostRate {
  static long cpu() {
    return java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  public static void main(String[] args) throws Exception {
    String ptx = Files.readString(Path.of(args[0]));
    String entry = args[1];
    int threads = Integer.parseInt(args[2]);
    int posts = Integer.parseInt(args[3]);
    int rounds = Integer.parseInt(args[4]);
    try (DirectFabric fabric = new DirectFabric();
        VmGpu gpu = new VmGpu(fabric, Locus.gpu(0, 0))) {
      GpuModule module = gpu.load("posts.ptx", ptx);
      Memory q = gpu.allocate(MemoryKind.DEVICE, 4096, "q");
      Memory ring = gpu.allocate(MemoryKind.DEVICE, 1 << 16, "ring");
      Memory words = gpu.allocate(MemoryKind.DEVICE, 4096, "words");
      q.putLong(0, ring.address());
      q.putLong(8, words.address());
      q.putLong(16, words.address() + 256);
      q.putLong(24, words.address() + 512);
      q.putLong(32, words.address() + 768);
      q.putLong(40, 1023);
      GpuStream stream = gpu.createStream();
      for (int i = 0; i < rounds; i++) {
        words.fill(0, 4096, (byte) 0);
        int blocks = (threads + 255) / 256;
        long t0 = cpu();
        Launch launch =
            gpu.launch(
                module.kernel(entry),
                LaunchConfig.of(blocks, threads / blocks).withTimeout(60_000_000_000L),
                new KernelArguments()
                    .add(q)
                    .add(1L << 40)
                    .add(1L << 41)
                    .add(17)
                    .add(18)
                    .add(64)
                    .add(posts / threads),
                stream);
        fabric.run(launch::done, 60_000_000_000L);
        launch.check();
        double s = (cpu() - t0) / 1e9;
        System.out.printf(
            "%s %d threads: %.2f M posts/s, %.1f M instr/s, %.1f instr/post (%d)%n",
            entry,
            threads,
            posts / s / 1e6,
            launch.instructions() / s / 1e6,
            launch.instructions() / (double) posts,
            words.getLong(768));
      }
    }
  }
}
