package dev.doorbell.softhca.wire;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.softhca.SoftWorld;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.util.ArrayList;
import java.util.List;

/** Two HCAs of one process whose packets leave it and come back. */
final class WireWorlds {
  static final Gid LOOPBACK = Gid.parse("127.0.0.1");
  static final Gid LOOPBACK_6 = Gid.parse("::1");
  static final long LEFT_MAC = 0x02_00_00_00_00_01L;
  static final long RIGHT_MAC = 0x02_00_00_00_00_02L;

  final SoftWorld world;
  final List<RoceWire> wires;

  private WireWorlds(SoftWorld world, List<RoceWire> wires) {
    this.world = world;
    this.wires = wires;
  }

  /** Over UDP, both ends on one address. */
  static WireWorlds udp(Gid address, SoftHcaOptions options, WireFaults faults) {
    DirectFabric fabric = new DirectFabric(AddressSpace.reserve(1L << 32), 0);
    List<RoceWire> wires = new ArrayList<>();
    for (int side = 0; side < 2; side++) {
      wires.add(RoceWire.udp(fabric, Locus.nic(side, 0), address, 0, faults));
    }
    return new WireWorlds(
        new SoftWorld(fabric, options, (hca, side) -> wires.get(side).join(hca)), wires);
  }

  /** Over a cable of Ethernet frames. */
  static WireWorlds ethernet(
      EthernetOptions left, EthernetOptions right, SoftHcaOptions options, WireFaults faults) {
    DirectFabric fabric = new DirectFabric(AddressSpace.reserve(1L << 30), 0);
    List<RoceWire> wires = new ArrayList<>();
    // The first end learns where the second is from its first frame.
    wires.add(EthernetLink.wire(fabric, Locus.nic(0, 0), 0, 0, left, faults));
    int port = wires.getFirst().port();
    wires.add(EthernetLink.wire(fabric, Locus.nic(1, 0), 0, port, right, faults));
    return new WireWorlds(
        new SoftWorld(fabric, options, (hca, side) -> wires.get(side).join(hca)), wires);
  }
}
