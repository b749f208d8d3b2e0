package dev.doorbell.softhca.wire;

import dev.doorbell.core.roce.Gid;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.Route;

/** The way to one peer over a {@link RoceWire}. */
final class RoceRoute extends Route {
  private final RoceWire wire;
  final Gid peer;
  final int port;
  private final PeerPort peerPort;

  RoceRoute(RoceWire wire, Gid peer, int port, PeerPort peerPort) {
    this.wire = wire;
    this.peer = peer;
    this.port = port;
    this.peerPort = peerPort;
  }

  @Override
  public boolean accepts(Packet packet, int peerNumber) {
    return packet.sourceGidLow == peer.low()
        && packet.sourceGidHigh == peer.high()
        && (peerPort == PeerPort.ANY || packet.sourcePort == port);
  }

  @Override
  public void transmit(Packet packet) {
    wire.transmit(this, packet);
  }

  @Override
  public void transmitCorrupt(Packet packet) {
    wire.transmitCorrupt(this, packet);
  }

  @Override
  public String toString() {
    return new WireAddress(peer, port).toString();
  }
}
