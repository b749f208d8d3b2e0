package dev.doorbell.core.emulated;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.memory.Locus;

/** Creates emulated GPUs; the virtual GPU is found as a service. */
@FunctionalInterface
public interface GpuFactory {
  Gpu create(Fabric fabric, Locus locus);
}
