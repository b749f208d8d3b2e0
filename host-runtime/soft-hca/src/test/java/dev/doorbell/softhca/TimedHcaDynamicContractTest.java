package dev.doorbell.softhca;

import dev.doorbell.contract.HcaDynamicContractTest;
import dev.doorbell.contract.HcaWorld;
import dev.doorbell.contract.RoundTopology;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.softhca.device.HcaTiming;
import dev.doorbell.softhca.device.HcaTiming.HcaRates;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.wire.InProcessWire;

/** The software HCA in virtual time: every DMA read takes its while, and so do wire and stages. */
class TimedHcaDynamicContractTest extends HcaDynamicContractTest {
  @Override
  protected HcaWorld newWorld() {
    return new SoftWorld(
        new TimedFabric(RoundTopology.sameSwitch(), AddressSpace.reserve(1L << 30), 1),
        SoftHcaOptions.DEFAULT
            .withTiming(
                new HcaTiming(50, 120, 100, 30, 20, new HcaRates(4, 30, 2, 2, 50, 2, 8192, 4096)))
            .withEngine(new SoftHcaOptions.Engine(1024, 16, 8, 64)),
        new InProcessWire(1_000, 200));
  }
}
