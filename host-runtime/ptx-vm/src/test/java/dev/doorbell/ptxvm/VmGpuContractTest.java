package dev.doorbell.ptxvm;

import dev.doorbell.contract.GpuContractTest;
import dev.doorbell.contract.GpuWorld;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.ptxvm.launch.VmGpu;

/** The virtual machine is a GPU. */
class VmGpuContractTest extends GpuContractTest {
  @Override
  protected GpuWorld openWorld() {
    DirectFabric fabric = new DirectFabric();
    return GpuWorld.of(fabric, new VmGpu(fabric, Locus.gpu(0, 0)));
  }
}
