package dev.doorbell.cuda;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.contract.GpuContractTest;
import dev.doorbell.contract.GpuWorld;
import dev.doorbell.core.Probe;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.memory.Locus;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;

/** A real GPU is a GPU. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CudaGpuContractTest extends GpuContractTest {
  @BeforeAll
  static void requireGpu() {
    Probe probe = CudaProbe.probe();
    assumeTrue(probe instanceof Probe.Ready, probe::describe);
  }

  @Override
  protected GpuWorld openWorld() {
    DirectFabric fabric = new DirectFabric();
    return GpuWorld.of(fabric, new CudaGpu(fabric, Locus.gpu(0, 0), 0));
  }
}
