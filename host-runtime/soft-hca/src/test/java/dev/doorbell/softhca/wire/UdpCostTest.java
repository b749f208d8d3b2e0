package dev.doorbell.softhca.wire;

import dev.doorbell.softhca.CostContract;
import dev.doorbell.softhca.device.SoftHcaOptions;

class UdpCostTest extends CostContract {
  UdpCostTest() {
    super(WireWorlds.udp(WireWorlds.LOOPBACK, SoftHcaOptions.DEFAULT, WireFaults.NONE).world);
  }

  /**
   * A system call makes an object of 16 bytes, unless the JVM's second compiler removes it, and a
   * message takes two calls at most. {@code CostTest} allows nothing on the same path without a
   * socket.
   */
  @Override
  protected int tolerated() {
    return 32;
  }
}
