package dev.doorbell.ptxvm.launch;

import dev.doorbell.core.emulated.GpuFactory;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.memory.Locus;

/** Creates virtual GPUs for modules that do not depend on this one; found as a service. */
public final class VmGpus implements GpuFactory {
  @Override
  public Gpu create(Fabric fabric, Locus locus) {
    return new VmGpu(fabric, locus);
  }
}
