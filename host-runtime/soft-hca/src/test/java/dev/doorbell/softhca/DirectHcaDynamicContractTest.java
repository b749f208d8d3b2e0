package dev.doorbell.softhca;

import dev.doorbell.contract.HcaDynamicContractTest;
import dev.doorbell.contract.HcaWorld;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.wire.InProcessWire;

/** The software HCA as fast as it can. */
class DirectHcaDynamicContractTest extends HcaDynamicContractTest {
  @Override
  protected HcaWorld newWorld() {
    return new SoftWorld(
        new DirectFabric(AddressSpace.reserve(1L << 30), 0),
        SoftHcaOptions.DEFAULT,
        new InProcessWire());
  }
}
