package dev.doorbell.softhca.wire;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.contract.HcaDynamicContractTest;
import dev.doorbell.contract.HcaWorld;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.util.Map;

/** Dynamic connections whose packets become bytes, in Ethernet frames. */
class EthernetHcaDynamicContractTest extends HcaDynamicContractTest {
  private static final Gid LEFT = Gid.parse("10.77.0.1");
  private static final Gid RIGHT = Gid.parse("10.77.0.2");

  @Override
  protected HcaWorld newWorld() {
    HcaWorld world =
        WireWorlds.ethernet(
                options(WireWorlds.LEFT_MAC, LEFT, RIGHT, WireWorlds.RIGHT_MAC),
                options(WireWorlds.RIGHT_MAC, RIGHT, LEFT, WireWorlds.LEFT_MAC),
                SoftHcaOptions.DEFAULT,
                WireFaults.NONE)
            .world;
    greet(world);
    return world;
  }

  private static EthernetOptions options(long mac, Gid address, Gid peer, long peerMac) {
    EthernetOptions usual = EthernetOptions.of(mac, address);
    return new EthernetOptions(mac, usual.gids(), usual.gidIndex(), Map.of(peer, peerMac));
  }

  /** The first end learns where the second is from its first frame. */
  private static void greet(HcaWorld world) {
    Endpoint[] ends = {
      new Endpoint(world, 0, Endpoint.Shape.usual()), new Endpoint(world, 1, Endpoint.Shape.usual())
    };
    Endpoint.connect(ends[0], ends[1]);
    ends[1].rdmaWrite(ends[0], 0, 0, 8).post();
    ends[1].pollSend();
    for (Endpoint end : ends) {
      end.close();
    }
  }
}
