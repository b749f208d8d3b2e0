package dev.doorbell.softhca.wire;

import dev.doorbell.contract.HcaContractTest;
import dev.doorbell.contract.HcaWorld;
import dev.doorbell.softhca.device.SoftHcaOptions;
import org.junit.jupiter.api.Tag;

/** The software HCA over UDP over IPv6; {@link RoceWireTest} sends such frames every day. */
@Tag("slow")
class Udp6HcaContractTest extends HcaContractTest {
  @Override
  protected HcaWorld newWorld() {
    return WireWorlds.udp(WireWorlds.LOOPBACK_6, SoftHcaOptions.DEFAULT, WireFaults.NONE).world;
  }
}
