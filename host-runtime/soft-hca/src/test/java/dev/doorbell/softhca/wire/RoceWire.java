package dev.doorbell.softhca.wire;

import dev.doorbell.core.Basis;
import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.core.roce.UdpHeader;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.Wire;
import dev.doorbell.softhca.packet.Wire.Route;
import dev.doorbell.softhca.packet.Wire.Station;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
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

  /** Messages that are received at once. */
  private static final int MESSAGES = 32;

  /** BTH, RETH and ICRC. */
  private static final int HEADER_BYTES = 32;

  private static final int SMALLEST_WINDOW = 8;

  /** Peers come and go; above this number a new one is looked up again. */
  private static final int REMEMBERED_ROUTES = 4096;

  /** Bytes under way on a connection that keep both ends busy; more would only leave the caches. */
  private static final int LARGEST_WINDOW_BYTES = 2 << 20;

  private final Fabric fabric;
  private final FrameLink link;
  private final UdpSocket socket;
  private final PeerPort peerPort;
  private final Agent agent = new Pump();
  private final FrameSender sender;
  private final FrameReceiver receiver;

  private @Nullable Station station;
  private final Map<WireAddress, RoceRoute> routes = new HashMap<>();
  private boolean closed;

  /** A wire over any link; {@link #udp} makes those for users. */
  RoceWire(Fabric fabric, Locus at, FrameLink link, WireFaults faults, PeerPort peerPort) {
    this.fabric = fabric;
    this.peerPort = peerPort;
    this.link = link;
    this.socket = link.socket;
    this.sender = new FrameSender(link, faults);
    this.receiver = new FrameReceiver(link, faults);
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
    return udp(fabric, at, local, port, faults, PeerPort.ANY);
  }

  /** A wire of RoCEv2 in UDP with a rule for the ports of peers. */
  public static RoceWire udp(
      Fabric fabric, Locus at, Gid local, int port, WireFaults faults, PeerPort peerPort) {
    requireWallTime(fabric);
    UdpSocket socket = new UdpSocket(local, port, HOP_LIMIT, MESSAGES, true);
    return new RoceWire(fabric, at, new FrameLink(socket, new Tap(fabric)), faults, peerPort);
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
    link.tap.into(into, address().toString());
  }

  /** Address at which peers find this HCA. */
  public WireAddress address() {
    int port = link.port();
    return new WireAddress(link.source(), port == UdpHeader.ROCE_PORT ? 0 : port);
  }

  /** The UDP port that it receives on. */
  public int port() {
    return socket.port;
  }

  /**
   * Half of what this end's receive buffer holds, taking the peer's to be like it, and 2 MiB at
   * most: the other half is for other connections. What does not fit is dropped by the system, and
   * a dropped packet means that all behind it come again.
   */
  @Override
  public int window(int payloadBytes) {
    int bytes = Math.min(socket.receiveBuffer / 2, LARGEST_WINDOW_BYTES);
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
    if (link.isUdp() && peer.isIpv4() != link.source().isIpv4()) {
      throw new HcaException(
          "%s cannot be reached from %s: one is IPv4, the other IPv6; choose GIDs of one family"
              .formatted(peer, link.source()));
    }
    int port = to.port() == 0 ? UdpHeader.ROCE_PORT : to.port();
    if (routes.size() == REMEMBERED_ROUTES) {
      routes.clear(); // Connections keep theirs.
    }
    return routes.computeIfAbsent(to, _ -> new RoceRoute(this, peer, port, peerPort));
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

  /** Counts what was carried and what was not. */
  public WireCounters counters() {
    return new WireCounters(
        sender.frames,
        sender.bytes,
        receiver.frames,
        receiver.bytes,
        receiver.badIcrc,
        receiver.malformed,
        receiver.notForUs,
        sender.unresolved,
        socket.in.kernelDrops,
        socket.out.refused,
        sender.stalls,
        sender.faultsDone + receiver.faultsDone);
  }

  /** Packets sent and received so far. */
  public long carried() {
    return sender.frames + receiver.frames;
  }

  /** The socket's file descriptor, or -1 when it is closed. */
  int descriptor() {
    return closed ? -1 : socket.descriptor;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    fabric.detach(agent);
    sender.close();
    socket.close();
  }

  void transmit(RoceRoute route, Packet packet) {
    sender.transmit(route, packet);
  }

  /** Sends a packet whose ICRC is wrong; where there is no room for it, it is lost all the same. */
  void transmitCorrupt(RoceRoute route, Packet packet) {
    sender.transmitCorrupt(route, packet);
  }

  /** Sends what waits, receives what has arrived. */
  private final class Pump implements Agent {
    @Override
    public int step(int budget) {
      Station hca = station;
      return sender.push() + (hca == null ? 0 : receiver.take(hca));
    }

    @Override
    public String where() {
      return "wire %s: %d packets wait".formatted(address(), sender.waiting());
    }
  }

  @Override
  public String toString() {
    return "RoCE wire at " + address();
  }

  /** From which UDP port of its peer a connection accepts packets. */
  public enum PeerPort {
    /**
     * Any port of the peer's address, as RoCEv2 has it: the source port is a hash for switches (IBA
     * annex A17). Whoever can send from that address is taken for the peer: on loopback, every
     * local user.
     */
    ANY,
    /**
     * The port to which the peer is sent, which only the peer's process can have. Fits peers that
     * send from the port that they receive on, as {@link RoceWire#udp} does.
     */
    STRICT
  }

  /**
   * Counters of what a wire has carried and what not; nothing is dropped without being counted.
   *
   * @param framesOut frames given to the system
   * @param bytesOut bytes of them, from the BTH to the ICRC
   * @param framesIn packets delivered to the HCA
   * @param bytesIn bytes of them, from the BTH to the ICRC
   * @param badIcrc arrived with a wrong ICRC: dropped
   * @param malformed arrived and were no RoCE packets, or broke its header rules: dropped
   * @param notForUs arrived for another GID: dropped
   * @param unresolved could not leave, for nobody answered for the peer's address yet: dropped
   * @param kernelDrops arrived while the socket's buffer was full: dropped by the system
   * @param refused the system would not send: too large, no route
   * @param stalls times that sending waited for the system
   * @param faults packets that {@link WireFaults} did something to
   */
  public record WireCounters(
      long framesOut,
      long bytesOut,
      long framesIn,
      long bytesIn,
      long badIcrc,
      long malformed,
      long notForUs,
      long unresolved,
      long kernelDrops,
      long refused,
      long stalls,
      long faults) {}

  /** The way to one peer over a {@link RoceWire}. */
  static final class RoceRoute extends Route {
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

  /**
   * Lets a loop rest that steps wires to other processes and finds nothing to do: it goes round a
   * few times, since most answers come soon, and then sleeps until something arrives. A loop that
   * never sleeps takes the processor from the very process that it waits for, where there are more
   * processes than processors.
   *
   * <pre>
   *  pollfd, 8 bytes:     descriptor 0 | events asked for 4 | events 6
   *  timespec, 16 bytes:  seconds 0 | nanoseconds 8
   * </pre>
   */
  public static final class Idleness {
    private static final int ROUNDS = 64;
    private static final long NANOS = 1_000_000;
    private static final int POLL = 8;
    private static final int TIME = 16;
    private static final short POLLIN = 1;

    private final LinuxSockets libc = new LinuxSockets();
    private final List<RoceWire> wires;
    private final MemorySegment memory;
    private long seen = -1;
    private int idle;

    /**
     * A loop that steps {@code wires}, and whatever uses them, and nothing else that may have
     * something to do by itself.
     */
    public Idleness(List<RoceWire> wires) {
      this.wires = List.copyOf(wires);
      this.memory = Arena.ofAuto().allocate(TIME + (long) POLL * wires.size(), Long.BYTES);
    }

    /**
     * To be called once a sweep. Sleeps for a millisecond at most, and until something arrives,
     * when many sweeps in a row have carried nothing.
     */
    public void look() {
      long carried = 0;
      for (int i = 0; i < wires.size(); i++) {
        carried += wires.get(i).carried();
      }
      if (carried != seen) {
        seen = carried;
        idle = 0;
      } else if (++idle >= ROUNDS) {
        await(NANOS);
      }
    }

    /** Waits until something has arrived, at most {@code nanos}. Nothing is stepped meanwhile. */
    public boolean await(long nanos) {
      long time = memory.address();
      RawMemory.putLong(time, nanos / 1_000_000_000);
      RawMemory.putLong(time + Long.BYTES, nanos % 1_000_000_000);
      for (int i = 0; i < wires.size(); i++) {
        long poll = time + TIME + (long) i * POLL;
        RawMemory.putInt(poll, wires.get(i).descriptor());
        RawMemory.putInt(poll + Integer.BYTES, POLLIN);
      }
      return libc.ppoll(time + TIME, wires.size(), time) > 0;
    }
  }
}
