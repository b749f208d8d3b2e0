package dev.doorbell.softhca.wire;

import dev.doorbell.softhca.CostContract;
import dev.doorbell.softhca.device.SoftHcaOptions;

class UdpCostTest extends CostContract {
  UdpCostTest() {
    super(WireWorlds.udp(WireWorlds.LOOPBACK, SoftHcaOptions.DEFAULT, WireFaults.NONE).world);
  }

  /**
   * A system call whose caller HotSpot has not compiled yet makes an object, and a system call is
   * for many messages. An object has 16 bytes at least: no message makes one.
   */
  @Override
  protected int tolerated() {
    return 15;
  }
}
