package dev.doorbell.softhca.wire;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.pcap.Direction;
import dev.doorbell.core.roce.EthernetHeader;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.core.roce.Ipv6Header;
import dev.doorbell.core.roce.RoceFrame;
import dev.doorbell.core.roce.UdpHeader;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.wire.RoceWire.PeerPort;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A cable to a guest: one Ethernet frame a datagram between two loopback ports, as QEMU's {@code
 * -netdev dgram} and User-Mode Linux's {@code fd} transport have it. This end has a MAC address and
 * a GID table, and answers ARP and neighbour discovery.
 */
final class EthernetLink extends FrameLink {
  private static final int HOP_LIMIT = 64;
  private static final int MESSAGES = 64;
  private static final int ALIGNMENT = 2;
  private static final int MESSAGE_BYTES = 4_352 - ALIGNMENT;
  private static final int REPLY_BYTES = 128;
  private static final int REPLIES = 16;
  private static final long ASK_AGAIN_NANOS = 200_000_000;

  private final Gid cable;

  /** Where the guest's end is; 0 until its first frame shows it. */
  private int cablePort;

  private final EthernetOptions options;
  private final GidTable.Entry source;
  private final Neighbours neighbours;

  /** Answers wait here until they are sent; an old one may be overwritten, as on any network. */
  private final MemorySegment replies =
      Arena.ofAuto().allocate((long) REPLIES * REPLY_BYTES, Long.BYTES);

  private int nextReply;
  private long askedAt;
  private boolean asked;

  EthernetLink(UdpSocket socket, Tap tap, Gid cable, int cablePort, EthernetOptions options) {
    super(socket, tap);
    this.cable = cable;
    this.cablePort = cablePort;
    this.options = options;
    this.source = options.gids().entry(options.gidIndex());
    this.neighbours = new Neighbours(options.mac(), options.gids(), options.neighbours());
  }

  /**
   * A wire to a guest: Ethernet frames in datagrams on the loopback interface.
   *
   * @param localPort UDP port to receive frames on; 0 for any that is free
   * @param guestPort UDP port that the guest receives frames on; 0 to learn it from its first frame
   */
  static RoceWire wire(
      Fabric fabric,
      Locus at,
      int localPort,
      int guestPort,
      EthernetOptions options,
      WireFaults faults) {
    Gid loopback = Gid.parse("127.0.0.1");
    UdpSocket socket = new UdpSocket(loopback, localPort, HOP_LIMIT, MESSAGES, false);
    return new RoceWire(
        fabric,
        at,
        new EthernetLink(socket, new Tap(fabric), loopback, guestPort, options),
        faults,
        PeerPort.ANY);
  }

  @Override
  boolean isOwn(long gidHigh, long gidLow) {
    return options.gids().contains(gidHigh, gidLow);
  }

  @Override
  Gid source() {
    return source.gid();
  }

  @Override
  int port() {
    return UdpHeader.ROCE_PORT;
  }

  @Override
  boolean isUdp() {
    return source.version() == RoceVersion.V2;
  }

  @Override
  long writeHeaders(long bth, int transport, long peerMac, Gid peer, int peerPort, Packet packet) {
    return isUdp()
        ? WireCapture.writeV2(
            bth,
            transport,
            peerMac,
            options.mac(),
            source(),
            peer,
            UdpHeader.connectionSourcePort(packet.originQpn, packet.destination),
            peerPort,
            packet.trafficClass,
            packet.flowLabel,
            packet.hopLimit)
        : writeV1(
            bth,
            transport,
            peerMac,
            options.mac(),
            source(),
            peer,
            packet.trafficClass,
            packet.flowLabel,
            packet.hopLimit);
  }

  /** Writes the headers of RoCE version 1 right before {@code bth}. */
  static long writeV1(
      long bth,
      int transport,
      long destinationMac,
      long sourceMac,
      Gid source,
      Gid destination,
      int trafficClass,
      int flowLabel,
      int hopLimit) {
    long grh = bth - Ipv6Header.BYTES;
    Ipv6Header.write(
        grh,
        trafficClass,
        flowLabel,
        transport,
        Ipv6Header.IBA_TRANSPORT,
        hopLimit == 0 ? HOP_LIMIT : hopLimit,
        source,
        destination);
    long frame = grh - EthernetHeader.BYTES;
    EthernetHeader.write(frame, destinationMac, sourceMac, EthernetHeader.ROCE_V1);
    return frame;
  }

  @Override
  long mac(Gid peer) {
    if (cablePort == 0) {
      return -1;
    }
    long mac = neighbours.mac(peer);
    if (mac < 0) {
      ask(peer);
    }
    return mac;
  }

  private void ask(Gid peer) {
    long now = System.nanoTime();
    if ((asked && now - askedAt < ASK_AGAIN_NANOS) || socket.out.room() == 0) {
      return;
    }
    asked = true;
    askedAt = now;
    long frame = nextReply();
    sendReply(frame, neighbours.ask(frame, source.gid(), peer));
  }

  @Override
  void queue(long frame, long bth, long end, Gid peer, int peerPort, int trafficClass) {
    socket.out.queue(frame, (int) (end - frame), cable, cablePort, 0);
  }

  @Override
  int messageBytes() {
    return MESSAGE_BYTES;
  }

  @Override
  int receiveOffset() {
    return ALIGNMENT;
  }

  @Override
  int open(int i) {
    if (cablePort == 0) {
      cablePort = socket.in.senderPort(i);
    }
    return 0;
  }

  @Override
  RoceFrame.Verdict parse(RoceFrame frame, long address, int bytes) {
    return frame.parse(address, bytes);
  }

  @Override
  long whole(long address, int bytes) {
    return address;
  }

  @Override
  int wholeBytes(int bytes) {
    return bytes;
  }

  @Override
  void other(long frame, int bytes) {
    if (socket.out.room() == 0) {
      return;
    }
    long reply = nextReply();
    int answer = neighbours.handle(frame, bytes, reply);
    if (answer > 0) {
      sendReply(reply, answer);
    }
  }

  private long nextReply() {
    long at = replies.address() + (long) nextReply * REPLY_BYTES;
    nextReply = (nextReply + 1) % REPLIES;
    RawMemory.fill(at, REPLY_BYTES, (byte) 0);
    return at;
  }

  private void sendReply(long frame, int bytes) {
    if (tap.isOn()) {
      tap.frame(Direction.OUTBOUND, frame, bytes);
    }
    socket.out.queue(frame, bytes, cable, cablePort, 0);
  }
}
