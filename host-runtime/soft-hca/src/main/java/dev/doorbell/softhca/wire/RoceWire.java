package dev.doorbell.softhca.wire;

import dev.doorbell.core.Basis;
import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.pcap.Direction;
import dev.doorbell.core.roce.Bth;
import dev.doorbell.core.roce.EthernetHeader;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.core.roce.Icrc;
import dev.doorbell.core.roce.RoceFrame;
import dev.doorbell.core.roce.UdpHeader;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.Route;
import dev.doorbell.softhca.packet.Station;
import dev.doorbell.softhca.packet.Wire;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A wire of RoCE packets to other processes and hosts, for one HCA.
 *
 * <p>It is an agent of the HCA's fabric and is stepped with it. Packets are framed in slots that
 * are sent and received many at a time; nothing is allocated a packet. When the system takes no
 * more, packets wait, and as they come from the HCA's pool, so do senders. What cannot be delivered
 * is dropped and counted: the transport repeats it.
 */
public final class RoceWire extends Wire implements AutoCloseable {
  private static final int HOP_LIMIT = 64;
  private static final int SLOT = 4_352;
  private static final int SLOTS = UdpSocket.BATCH;

  /** BTH, RETH and ICRC. */
  private static final int HEADER_BYTES = 32;

  private static final int SMALLEST_WINDOW = 8;

  /**
   * Batches received in one step. What stays in the socket looks like silence to whoever sent it,
   * and comes once more: many connections would bury each other so.
   */
  private static final int RECEIVED_AT_ONCE = 2;

  /** Bytes under way on a connection that keep both ends busy; more would only leave the caches. */
  private static final int LARGEST_WINDOW_BYTES = 2 << 20;

  private final Fabric fabric;
  private final FrameLink link;
  private final UdpSocket socket;
  private final WireFaults faults;
  private final Agent agent = new Pump();
  private final Icrc icrc = new Icrc();
  private final RoceFrame frame = new RoceFrame(0);

  // Slots to send from, then slots to receive to.
  private final MemorySegment slab = Arena.ofAuto().allocate(2L * SLOTS * SLOT, 64);
  private final long base = slab.address();
  private final ByteBuffer slabBytes = slab.asByteBuffer();
  private int sendSlot;

  private @Nullable Station station;
  private final Map<WireAddress, RoceRoute> routes = new HashMap<>();
  private @Nullable WireCapture capture;
  private int captureInterface;
  private boolean closed;

  /** Packets that found no room, oldest first; their payload is in their own buffers. */
  private final ArrayDeque<Held> held = new ArrayDeque<>();

  /** A packet that a fault sends after the next one. */
  private @Nullable Held swapped;

  /** Datagrams of the last batch that the HCA had no packets for yet. */
  private int arrived;

  private int handled;

  private long framesOut;
  private long bytesOut;
  private long framesIn;
  private long bytesIn;
  private long badIcrc;
  private long malformed;
  private long notForUs;
  private long unresolved;
  private long stalls;
  private long faultsDone;

  private record Held(RoceRoute route, Packet packet) {}

  private RoceWire(Fabric fabric, Locus at, FrameLink link, WireFaults faults) {
    this.fabric = fabric;
    this.link = link;
    this.socket = link.socket;
    this.faults = faults;
    for (int i = 0; i < SLOTS; i++) {
      int offset = link.receiveOffset();
      socket.receiveAt(i, receiveSlot(i) + offset, SLOT - offset);
    }
    fabric.attachDevice(at, agent);
  }

  /**
   * A wire of RoCEv2 in UDP.
   *
   * @param fabric of the HCA; its clock must be the wall's
   * @param at where the HCA is
   * @param local address to listen on, which is also the GID
   * @param port port to listen on, usually {@value UdpHeader#ROCE_PORT}; 0 for any that is free
   * @throws HcaException when the fabric is in virtual time or the port is taken
   */
  public static RoceWire udp(Fabric fabric, Locus at, Gid local, int port, WireFaults faults) {
    requireWallTime(fabric);
    return new RoceWire(fabric, at, new UdpLink(new UdpSocket(local, port, HOP_LIMIT)), faults);
  }

  /**
   * A cable to a guest: Ethernet frames in datagrams on the loopback interface.
   *
   * @param localPort UDP port to receive frames on; 0 for any that is free
   * @param guestPort UDP port that the guest receives frames on; 0 to learn it from its first frame
   * @throws HcaException when the fabric is in virtual time or the port is taken
   */
  public static RoceWire ethernet(
      Fabric fabric,
      Locus at,
      int localPort,
      int guestPort,
      EthernetOptions options,
      WireFaults faults) {
    requireWallTime(fabric);
    Gid loopback = Gid.parse("127.0.0.1");
    UdpSocket socket = new UdpSocket(loopback, localPort, HOP_LIMIT);
    return new RoceWire(fabric, at, new EthernetLink(socket, loopback, guestPort, options), faults);
  }

  private static void requireWallTime(Fabric fabric) {
    if (fabric.basis() == Basis.MODELLED) {
      throw new HcaException(
          "a wire to other processes needs a fabric on the wall's clock; use the direct fabric, or"
              + " an in-process wire for virtual time");
    }
  }

  /**
   * Plugs an HCA in.
   *
   * @throws HcaException when there is one already
   */
  public void join(Station hca) {
    if (station != null) {
      throw new HcaException(
          "a wire to other processes has one HCA, and %s is on it; open another wire for %s"
              .formatted(station.name(), hca.name()));
    }
    hca.plug(this);
    station = hca;
  }

  /** Captures what is carried from now on; ends an earlier capture's part. Null for none. */
  public void capture(@Nullable WireCapture into) {
    capture = into;
    if (into == null) {
      link.listener = null;
      return;
    }
    captureInterface = into.addInterface(address().toString());
    link.listener =
        (direction, address, bytes) ->
            into.frame(captureInterface, fabric.now(), direction, address, bytes);
  }

  /** Where peers find this HCA. */
  public WireAddress address() {
    boolean usual = socket.port() == UdpHeader.ROCE_PORT || link instanceof EthernetLink;
    return new WireAddress(link.source(), usual ? 0 : socket.port());
  }

  /** The UDP port that it receives on. */
  public int port() {
    return socket.port();
  }

  @Override
  public boolean carriesGids() {
    return true;
  }

  /**
   * Half of what this end's receive buffer holds, taking the peer's to be like it, and 2 MiB at
   * most: the other half is for other connections. What does not fit is dropped by the system, and
   * a dropped packet means that all behind it come again.
   */
  @Override
  public int window(int payloadBytes) {
    int bytes = Math.min(socket.receiveBuffer() / 2, LARGEST_WINDOW_BYTES);
    return Math.max(SMALLEST_WINDOW, bytes / UdpSocket.footprint(HEADER_BYTES + payloadBytes));
  }

  @Override
  public String address(Station hca) {
    return address().toString();
  }

  @Override
  public @Nullable Route route(Station from, String to) {
    return route(WireAddress.parse(to));
  }

  @Override
  public @Nullable Route route(Station from, long gidHigh, long gidLow) {
    return route(new WireAddress(new Gid(gidHigh, gidLow), 0));
  }

  private Route route(WireAddress to) {
    Gid peer = to.gid();
    boolean v1 = link.version() == RoceVersion.V1;
    if (!v1 && peer.isIpv4() != link.source().isIpv4()) {
      throw new HcaException(
          "%s cannot be reached from %s: one is IPv4, the other IPv6; choose GIDs of one family"
              .formatted(peer, link.source()));
    }
    int port = to.port() == 0 ? UdpHeader.ROCE_PORT : to.port();
    return routes.computeIfAbsent(to, _ -> new RoceRoute(this, peer, port));
  }

  @Override
  public long @Nullable [] gid(String name) {
    Gid gid = WireAddress.parse(name).gid();
    return new long[] {gid.high(), gid.low()};
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // a station is itself alone
  public void leave(Station hca) {
    if (hca == station) {
      close();
    }
  }

  @Override
  public String members() {
    return "whoever listens; this end is " + address();
  }

  /** What was carried and what was not. */
  public WireCounters counters() {
    return new WireCounters(
        framesOut,
        bytesOut,
        framesIn,
        bytesIn,
        badIcrc,
        malformed,
        notForUs,
        unresolved,
        socket.kernelDrops(),
        socket.refused(),
        stalls,
        faultsDone);
  }

  /** Packets sent and received so far. */
  public long carried() {
    return framesOut + framesIn;
  }

  /** What the system knows the socket by, or -1 when it is closed. */
  int descriptor() {
    return closed ? -1 : socket.descriptor();
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    fabric.detach(agent);
    for (Held waiting : held) {
      waiting.packet.pool.release(waiting.packet);
    }
    held.clear();
    Held late = swapped;
    if (late != null) {
      late.packet.pool.release(late.packet);
    }
    swapped = null;
    socket.close();
  }

  // Sending.

  private long sendSlot(int i) {
    return base + (long) i * SLOT;
  }

  private long receiveSlot(int i) {
    return base + (long) (SLOTS + i) * SLOT;
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
    if (socket.room() == 0) {
      socket.send();
    }
    return socket.room() > 0;
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
    long bth = sendSlot(slot) + FrameHeaders.ROOM;
    int bytes = PacketCodec.encode(packet, bth);
    int transport = bytes + Icrc.BYTES;
    Gid source = link.source();
    boolean udp = link.version() == RoceVersion.V2;
    long start =
        udp
            ? FrameHeaders.writeV2(
                bth,
                transport,
                peerMac,
                link.mac(),
                source,
                route.peer,
                link.sourcePort(packet.originQpn, packet.destination),
                route.port,
                packet.trafficClass,
                packet.flowLabel,
                packet.hopLimit)
            : FrameHeaders.writeV1(
                bth,
                transport,
                peerMac,
                link.mac(),
                source,
                route.peer,
                packet.trafficClass,
                packet.flowLabel,
                packet.hopLimit);
    int at = (int) (bth - base);
    int crc =
        icrc.of(
            start + EthernetHeader.BYTES,
            !udp || !route.peer.isIpv4(),
            udp,
            slabBytes,
            at + Bth.BYTES,
            at + bytes);
    Icrc.write(bth + bytes, corrupt ? ~crc : crc);
    long end = bth + transport;
    WireCapture into = capture;
    if (into != null) {
      into.frame(captureInterface, fabric.now(), Direction.OUTBOUND, start, (int) (end - start));
    }
    link.queue(start, bth, end, route.peer, route.port, packet.trafficClass);
    framesOut++;
    bytesOut += transport;
  }

  private int pushOut() {
    int done = socket.waiting() > 0 ? socket.send() : 0;
    while (!held.isEmpty() && hasRoom()) {
      Held next = held.remove();
      frame(next.route, next.packet, false);
      next.packet.pool.release(next.packet);
      done++;
    }
    return done;
  }

  // Receiving.

  private int takeIn() {
    Station hca = station;
    if (hca == null) {
      return 0;
    }
    int taken = 0;
    for (int batch = 0; batch < RECEIVED_AT_ONCE; batch++) {
      if (handled == arrived) {
        arrived = socket.receive(SLOTS);
        handled = 0;
      }
      int before = handled;
      while (handled < arrived && take(hca, handled)) {
        handled++;
      }
      taken += handled - before;
      if (handled < arrived || arrived < SLOTS) {
        break;
      }
    }
    return taken;
  }

  /**
   * Delivers datagram {@code i}.
   *
   * @return false when the HCA has no packet for it now
   */
  private boolean take(Station hca, int i) {
    int bytes = socket.bytes(i);
    if (bytes < 0) {
      malformed++;
      return true;
    }
    long slot = receiveSlot(i);
    long start = link.frame(i, slot, bytes);
    long end = slot + link.receiveOffset() + bytes;
    RoceFrame.Verdict verdict = frame.parse(start, (int) (end - start));
    if (verdict == RoceFrame.Verdict.OTHER) {
      record(start, end);
      link.other(start, (int) (end - start));
      return true;
    }
    if (verdict != RoceFrame.Verdict.ROCE || frame.payloadBytes > Packet.MAX_PAYLOAD) {
      record(start, end);
      malformed++;
      return true;
    }
    Packet packet = hca.packets().take();
    if (packet == null) {
      return false;
    }
    record(start, end);
    if (!accept(packet)) {
      packet.pool.release(packet);
      return true;
    }
    framesIn++;
    bytesIn += end - frame.bth;
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
  private boolean accept(Packet packet) {
    if (icrc.of(frame, slabBytes, base) != Icrc.read(frame.icrc)) {
      badIcrc++;
      return false;
    }
    takeRoute(packet);
    if (!link.isOwn(packet.destinationGidHigh, packet.destinationGidLow)) {
      notForUs++;
      return false;
    }
    PacketCodec.decode(frame, packet);
    return true;
  }

  private void takeRoute(Packet packet) {
    packet.trafficClass = frame.trafficClass();
    packet.hopLimit = frame.hopLimit();
    packet.flowLabel = 0;
    packet.sourceGidHigh = frame.sourceHigh();
    packet.sourceGidLow = frame.sourceLow();
    packet.destinationGidHigh = frame.destinationHigh();
    packet.destinationGidLow = frame.destinationLow();
  }

  private void record(long start, long end) {
    WireCapture into = capture;
    if (into != null) {
      into.frame(captureInterface, fabric.now(), Direction.INBOUND, start, (int) (end - start));
    }
  }

  /** Sends what waits, receives what has arrived. */
  private final class Pump implements Agent {
    @Override
    public int step(int budget) {
      return pushOut() + takeIn();
    }

    @Override
    public String where() {
      return "wire %s: %d packets wait".formatted(address(), held.size() + socket.waiting());
    }
  }

  @Override
  public String toString() {
    return "RoCE wire at " + address();
  }
}
