package dev.doorbell.softhca;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.wire.InProcessWire;

class CostTest extends CostContract {
  CostTest() {
    super(
        new SoftWorld(
            new DirectFabric(AddressSpace.reserve(1L << 32), 0),
            SoftHcaOptions.DEFAULT,
            new InProcessWire()));
  }
}
