package dev.doorbell.softhca.wire;

import dev.doorbell.core.pcap.Direction;
import dev.doorbell.core.roce.EthernetHeader;
import dev.doorbell.core.roce.Icrc;
import dev.doorbell.core.roce.generated.Bth;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.wire.RoceWire.RoceRoute;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The way out of a {@link RoceWire}: packets become frames in slots, which the system takes many at
 * a time. When it takes no more, packets wait.
 */
final class FrameSender {
  private static final int SLOT = 4_352;
  private static final int SLOTS = Outgoing.CAPACITY;

  private final FrameLink link;
  private final Outgoing out;
  private final WireFaults faults;
  private final Icrc icrc = new Icrc();
  private final MemorySegment slab = Arena.ofAuto().allocate((long) SLOTS * SLOT, 64);
  private final long base = slab.address();
  private final ByteBuffer slabBytes = slab.asByteBuffer();
  private int sendSlot;
  private boolean closed;

  /** Packets that found no room, oldest first; their payload is in their own buffers. */
  private final ArrayDeque<Held> held = new ArrayDeque<>();

  /** A packet that a fault sends after the next one. */
  private @Nullable Held swapped;

  long frames;
  long bytes;
  long unresolved;
  long stalls;
  long faultsDone;

  private record Held(RoceRoute route, Packet packet) {}

  FrameSender(FrameLink link, WireFaults faults) {
    this.link = link;
    this.out = link.socket.out;
    this.faults = faults;
  }

  /** Gives back what waits; nothing is sent any more. */
  void close() {
    closed = true;
    for (Held waiting : held) {
      waiting.packet.pool.release(waiting.packet);
    }
    held.clear();
    Held late = swapped;
    if (late != null) {
      late.packet.pool.release(late.packet);
    }
    swapped = null;
  }

  /** Packets and messages that wait. */
  int waiting() {
    return held.size() + out.waiting();
  }

  void transmit(RoceRoute route, Packet packet) {
    if (closed) {
      packet.pool.release(packet);
      return;
    }
    WireFaults.Fate fate = faults.fate(packet, true);
    if (fate != WireFaults.Fate.PASS) {
      faultsDone++;
      if (fate == WireFaults.Fate.DROP) {
        packet.pool.release(packet);
        return;
      }
      if (fate == WireFaults.Fate.SWAP && swapped == null) {
        packet.keep();
        swapped = new Held(route, packet);
        return;
      }
      if (fate == WireFaults.Fate.DUPLICATE && held.isEmpty() && hasRoom()) {
        frame(route, packet, false);
      }
    }
    send(route, packet, fate == WireFaults.Fate.CORRUPT);
    Held late = swapped;
    if (late != null) {
      swapped = null;
      send(late.route, late.packet, false);
    }
  }

  /** Sends a packet whose ICRC is wrong; where there is no room for it, it is lost all the same. */
  void transmitCorrupt(RoceRoute route, Packet packet) {
    if (!closed && held.isEmpty() && hasRoom()) {
      frame(route, packet, true);
    }
    packet.pool.release(packet);
  }

  private void send(RoceRoute route, Packet packet, boolean corrupt) {
    if (!held.isEmpty() || !hasRoom()) {
      packet.keep();
      held.add(new Held(route, packet));
      stalls++;
      return;
    }
    frame(route, packet, corrupt);
    packet.pool.release(packet);
  }

  private boolean hasRoom() {
    if (out.room() == 0) {
      out.send();
    }
    return out.room() > 0;
  }

  /** Puts a packet into the next slot and queues it. */
  private void frame(RoceRoute route, Packet packet, boolean corrupt) {
    long peerMac = link.mac(route.peer);
    if (peerMac < 0) {
      unresolved++;
      return;
    }
    if (!hasRoom()) { // a question for the peer's address took the last place
      unresolved++;
      return;
    }
    int slot = sendSlot;
    sendSlot = (slot + 1) % SLOTS;
    long bth = base + (long) slot * SLOT + FrameLink.ROOM;
    int encoded = PacketCodec.encode(packet, bth);
    int transport = encoded + Icrc.BYTES;
    long start = link.writeHeaders(bth, transport, peerMac, route.peer, route.port, packet);
    int at = (int) (bth - base);
    int crc =
        icrc.of(
            start + EthernetHeader.BYTES,
            !link.isUdp() || !route.peer.isIpv4(),
            link.isUdp(),
            slabBytes,
            at + Bth.BYTES,
            at + encoded);
    Icrc.write(bth + encoded, corrupt ? ~crc : crc);
    long end = bth + transport;
    if (link.tap.isOn()) {
      link.tap.frame(Direction.OUTBOUND, start, (int) (end - start));
    }
    link.queue(start, bth, end, route.peer, route.port, packet.trafficClass);
    frames++;
    bytes += transport;
  }

  /** Sends what waits, as far as the system takes it. */
  int push() {
    int done = out.waiting() > 0 ? out.send() : 0;
    while (!held.isEmpty() && hasRoom()) {
      Held next = held.remove();
      frame(next.route, next.packet, false);
      next.packet.pool.release(next.packet);
      done++;
    }
    return done;
  }
}
