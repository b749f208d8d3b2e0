package dev.doorbell.experiments.scenario.device;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.ptxvm.launch.VmGpu;

/** GPUs of the PTX VM for worlds that a caller builds itself. */
public final class VirtualGpus {
  private VirtualGpus() {}

  /** Creates a GPU in the world of {@code fabric}. */
  public static Gpu create(Fabric fabric, Locus locus) {
    return new VmGpu(fabric, locus);
  }
}
