package dev.doorbell.cuda;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;

/**
 * A program that breaks a GPU's context and says what it is told; in a process of its own, since
 * nobody else could use the GPU in that one afterwards.
 */
final class FaultProgram {
  private static final String PTX =
      """
      .version 7.0
      .target sm_75
      .address_size 64

      .visible .entry wild(.param .u64 p) {
        .reg .b64 %p;
        ld.param.u64 %p, [p];
        st.global.u64 [%p], %p;
        ret;
      }

      .visible .entry misaligned(.param .u64 p) {
        .reg .b64 %p;
        ld.param.u64 %p, [p];
        st.global.u64 [%p+4], %p;
        ret;
      }

      .visible .entry traps(.param .u64 p) {
        trap;
      }

      .visible .entry hangs(.param .u64 p) {
        .reg .b64 %p, %x;
        .reg .pred %q;
        ld.param.u64 %p, [p];
      AGAIN:
        ld.volatile.global.u64 %x, [%p];
        setp.eq.u64 %q, %x, 0;
        @%q bra AGAIN;
        ret;
      }
      """;

  private FaultProgram() {}

  /** Runs the kernel that is named. */
  public static void main(String[] arguments) {
    try (DirectFabric fabric = new DirectFabric()) {
      try (CudaGpu gpu = new CudaGpu(fabric, Locus.gpu(0, 0), 0)) {
        breakIt(gpu, fabric, arguments[0]);
      }
      say("closed", "");
      try (CudaGpu again = new CudaGpu(fabric, Locus.gpu(0, 0), 0)) {
        again.allocate(MemoryKind.DEVICE, 64, "afterwards").close();
        say("reopened", "");
      } catch (GpuException e) {
        say("not reopened", e.getMessage());
      }
    }
    say("end", "");
  }

  private static void breakIt(CudaGpu gpu, DirectFabric fabric, String kernel) {
    Memory memory = gpu.allocate(MemoryKind.DEVICE, 64, "word");
    long address = kernel.equals("wild") ? 0xdead_0000L : memory.address();
    GpuModule module = gpu.load("faults.ptx", PTX);
    Launch launch =
        gpu.launch(
            module.kernel(kernel),
            LaunchConfig.of(1, 1).withTimeout(200_000_000),
            new KernelArguments().add(address),
            gpu.createStream());
    fabric.run(launch::done, 20_000_000_000L);
    try {
      launch.check();
      say("check", "nothing");
    } catch (GpuException e) {
      say("check", e.getMessage());
    }
    try {
      gpu.allocate(MemoryKind.DEVICE, 64, "more");
      say("next", "nothing");
    } catch (GpuException e) {
      say("next", e.getMessage());
    }
  }

  @SuppressWarnings("SystemOut") // it is what the parent reads
  private static void say(String what, String text) {
    System.out.println(what + ": " + text);
  }
}
