package dev.doorbell.softhca.wire;

import dev.doorbell.contract.HcaContractTest;
import dev.doorbell.contract.HcaWorld;
import dev.doorbell.softhca.device.SoftHcaOptions;

/** The software HCA over RoCEv2 in UDP over IPv6. */
class Udp6HcaContractTest extends HcaContractTest {
  @Override
  protected HcaWorld newWorld() {
    return WireWorlds.udp(WireWorlds.LOOPBACK_6, SoftHcaOptions.DEFAULT, WireFaults.NONE).world;
  }
}
