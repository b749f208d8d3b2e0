package dev.doorbell.interop.shim.gpu;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.memory.Locus;

/** Creates an emulated GPU. */
@FunctionalInterface
public interface GpuFactory {
  /** Creates a GPU in the world of {@code fabric}. */
  Gpu create(DirectFabric fabric, Locus locus);
}
