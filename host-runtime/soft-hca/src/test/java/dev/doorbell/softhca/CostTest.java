package dev.doorbell.softhca;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.memory.AddressSpace;

class CostTest extends CostContract {
  CostTest() {
    super(
        new SoftWorld(
            new DirectFabric(AddressSpace.reserve(1L << 32), 0),
            SoftHcaOptions.DEFAULT,
            new InProcessWire()));
  }
}
