package dev.doorbell.softhca.wire;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.pcap.Direction;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.core.roce.Icrc;
import dev.doorbell.core.roce.Ipv4Header;
import dev.doorbell.core.roce.Ipv6Header;
import dev.doorbell.core.roce.RoceFrame;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.PortCounters.Counter;
import dev.doorbell.softhca.packet.Wire.Station;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * The way into a {@link RoceWire}: many messages a call, each of them one datagram or several.
 *
 * <p>Packets are delivered with their payload where it was received to; what the HCA still has when
 * that memory is needed again is copied then.
 */
final class FrameReceiver {
  private static final int ALIGNMENT = 64;

  /** Slots of a power of two would share few lines of the caches. */
  private static final int STAGGER = 320;

  /** Datagrams in one step: the HCA answers in between, and the peer goes on meanwhile. */
  private static final int AT_ONCE = 128;

  private final FrameLink link;
  private final Incoming in;
  private final WireFaults faults;
  private final RoceFrame frame = new RoceFrame(0);
  private final Icrc icrc = new Icrc();
  private final MemorySegment slab;
  private final long base;
  private final ByteBuffer slabBytes;
  private final int slotBytes;

  /** Messages of the last call, and the next of them that is not done with. */
  private int arrived;

  private int message;

  // Of that message: the next datagram, the end, and the bytes of a datagram; 0 when not opened.
  private long next;
  private long end;
  private int datagram;

  long frames;
  long bytes;
  long badIcrc;
  long malformed;
  long notForUs;
  long faultsDone;

  FrameReceiver(FrameLink link, WireFaults faults) {
    this.link = link;
    this.in = link.socket.in;
    this.faults = faults;
    int offset = link.receiveOffset();
    slotBytes = (link.messageBytes() + offset + STAGGER) & -ALIGNMENT;
    slab = Arena.ofAuto().allocate((long) in.capacity * slotBytes, ALIGNMENT);
    base = slab.address();
    slabBytes = slab.asByteBuffer();
    for (int i = 0; i < in.capacity; i++) {
      in.receiveAt(i, slot(i), link.messageBytes());
    }
  }

  private long slot(int i) {
    return base + (long) i * slotBytes + link.receiveOffset();
  }

  /** Delivers what has arrived, as far as the HCA has packets for it. */
  int take(Station hca) {
    if (message == arrived) {
      arrived = in.receive();
      message = 0;
    }
    int taken = 0;
    while (message < arrived && taken < AT_ONCE) {
      if (datagram == 0) {
        open();
      }
      while (next < end) {
        if (!take(hca, next, (int) Math.min(datagram, end - next))) {
          return taken;
        }
        next += datagram;
        taken++;
      }
      datagram = 0;
      message++;
    }
    return taken;
  }

  private void open() {
    int received = in.bytes(message);
    next = slot(message);
    if (received < 0) {
      malformed++;
    }
    end = next + Math.max(0, received);
    int segment = link.open(message);
    datagram = segment > 0 ? segment : Math.max(1, received);
  }

  /**
   * Delivers a datagram.
   *
   * @return false when the HCA has no packet for it now
   */
  private boolean take(Station hca, long address, int length) {
    RoceFrame.Verdict verdict = link.parse(frame, address, length);
    if (verdict == RoceFrame.Verdict.OTHER) {
      record(address, length);
      link.other(address, length);
      return true;
    }
    if (verdict != RoceFrame.Verdict.ROCE || frame.payloadBytes > Packet.MAX_PAYLOAD) {
      record(address, length);
      malformed++;
      return true;
    }
    Packet packet = hca.packets().take();
    if (packet == null) {
      return false;
    }
    record(address, length);
    if (!accept(packet, hca)) {
      packet.pool.release(packet);
      return true;
    }
    frames++;
    bytes += frame.icrc + Icrc.BYTES - frame.bth;
    WireFaults.Fate fate = faults.fate(packet, false);
    if (fate == WireFaults.Fate.PASS) {
      hca.deliver(packet);
      return true;
    }
    faultsDone++;
    if (fate == WireFaults.Fate.DROP) {
      packet.pool.release(packet);
      return true;
    }
    Packet twin = fate == WireFaults.Fate.DUPLICATE ? hca.packets().take() : null;
    if (twin != null) {
      twin.copyOf(packet);
    }
    hca.deliver(packet);
    if (twin != null) {
      hca.deliver(twin);
    }
    return true;
  }

  /** Checks the ICRC and the addresses, and reads the packet. */
  private boolean accept(Packet packet, Station hca) {
    if (icrc.of(frame, slabBytes, base) != Icrc.read(frame.icrc)) {
      badIcrc++;
      hca.counters().add(Counter.RX_ICRC_ENCAPSULATED);
      return false;
    }
    takeRoute(packet);
    if (!link.isOwn(packet.destinationGidHigh, packet.destinationGidLow)) {
      notForUs++;
      return false;
    }
    PacketDecoder.decode(frame, packet);
    return true;
  }

  private void takeRoute(Packet packet) {
    packet.trafficClass = frame.trafficClass();
    packet.hopLimit = frame.ipv6 ? Ipv6Header.hopLimit(frame.ip) : Ipv4Header.ttl(frame.ip);
    packet.flowLabel = 0;
    int source = frame.ipv6 ? Ipv6Header.SOURCE_OFFSET : Ipv4Header.SOURCE_OFFSET;
    packet.sourceGidHigh = high(source);
    packet.sourceGidLow = low(source);
    packet.sourcePort = link.senderPort();
    int destination = frame.ipv6 ? Ipv6Header.DESTINATION_OFFSET : Ipv4Header.DESTINATION_OFFSET;
    packet.destinationGidHigh = high(destination);
    packet.destinationGidLow = low(destination);
  }

  // Halves of a GID without an object: messages make no garbage.
  private long high(int at) {
    return frame.ipv6 ? BigEndian.getLong(frame.ip + at) : 0;
  }

  private long low(int at) {
    return frame.ipv6
        ? BigEndian.getLong(frame.ip + at + Long.BYTES)
        : Gid.ipv4Low(BigEndian.getInt(frame.ip + at));
  }

  private void record(long address, int length) {
    if (link.tap.isOn()) {
      link.tap.frame(Direction.INBOUND, link.whole(address, length), link.wholeBytes(length));
    }
  }
}
