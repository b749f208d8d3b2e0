package dev.doorbell.softhca.wire;

import dev.doorbell.softhca.CostContract;
import dev.doorbell.softhca.SoftHcaOptions;

class UdpCostTest extends CostContract {
  UdpCostTest() {
    super(WireWorlds.udp(WireWorlds.LOOPBACK, SoftHcaOptions.DEFAULT, WireFaults.NONE).world);
  }
}
