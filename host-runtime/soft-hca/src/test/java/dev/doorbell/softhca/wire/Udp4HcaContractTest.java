package dev.doorbell.softhca.wire;

import dev.doorbell.contract.HcaContractTest;
import dev.doorbell.contract.HcaWorld;
import dev.doorbell.softhca.device.SoftHcaOptions;

/** The software HCA over RoCEv2 in UDP over IPv4. */
class Udp4HcaContractTest extends HcaContractTest {
  @Override
  protected HcaWorld newWorld() {
    return WireWorlds.udp(WireWorlds.LOOPBACK, SoftHcaOptions.DEFAULT, WireFaults.NONE).world;
  }
}
