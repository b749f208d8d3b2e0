package dev.doorbell.softhca;

import dev.doorbell.contract.HcaTransportContractTest;
import dev.doorbell.contract.HcaWorld;
import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.adapter.AdapterException;
import dev.doorbell.core.adapter.Adapters;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.wire.InProcessWire;

/**
 * A software HCA that places WRITEs in any order keeps what every transport promises. {@code
 * -Ddoorbell.adapter} chooses another adapter; one without atomics fails what needs them.
 */
class UnorderedHcaTransportContractTest extends HcaTransportContractTest {
  @Override
  protected HcaWorld newWorld() {
    return new SoftWorld(
        new DirectFabric(AddressSpace.reserve(1L << 30), 0),
        SoftHcaOptions.DEFAULT.withAdapter(unordered()),
        new InProcessWire());
  }

  static Adapter unordered() {
    try {
      return Adapters.of(System.getProperty("doorbell.adapter", "cx8-ooo-all"));
    } catch (AdapterException e) {
      throw new IllegalStateException(e);
    }
  }
}
