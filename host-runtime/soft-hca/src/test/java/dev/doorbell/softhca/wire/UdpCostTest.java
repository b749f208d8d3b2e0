package dev.doorbell.softhca.wire;

import dev.doorbell.softhca.CostContract;
import dev.doorbell.softhca.device.SoftHcaOptions;

class UdpCostTest extends CostContract {
  UdpCostTest() {
    super(WireWorlds.udp(WireWorlds.LOOPBACK, SoftHcaOptions.DEFAULT, WireFaults.NONE).world);
  }

  /**
   * A system call whose caller HotSpot has not compiled makes an object of 16 bytes, and a batch of
   * messages takes a few calls more than it has messages at most. {@code CostTest} allows nothing
   * on the same path without a socket.
   */
  @Override
  protected int tolerated() {
    return 24;
  }
}
