package dev.doorbell.softhca.wire;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.roce.EthernetHeader;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.core.roce.Icrc;
import dev.doorbell.core.roce.RoceFrame;
import dev.doorbell.core.roce.generated.Bth;
import dev.doorbell.softhca.packet.Packet;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Moves whole frames out of the process and in: RoCEv2 in UDP. A frame starts with an Ethernet
 * header. The system makes and takes away Ethernet, IP and UDP headers; they are rebuilt for the
 * ICRC and for captures. DF and identification 0 are what a {@link UdpSocket} sends.
 *
 * <p>Tests override it for a cable that carries Ethernet frames to a guest.
 */
class FrameLink {
  static final int ROOM = WireCapture.ROOM;

  /** Peers whose GIDs are remembered, so that packets of theirs allocate nothing. */
  private static final int REMEMBERED = 64;

  private static final long NO_MAC = 0x02_00_00_00_00_00L;

  /** Size of the largest message that the system gives. */
  private static final int MESSAGE_BYTES = 65_536;

  final UdpSocket socket;

  /** Receives the frames that the link itself makes; {@link RoceWire} reports packets. */
  final Tap tap;

  /** The headers that the system took away from the datagram that was parsed last. */
  private final MemorySegment headers = Arena.ofAuto().allocate(ROOM + MESSAGE_BYTES, Long.BYTES);

  private final long rebuilt = headers.address() + ROOM;
  private long ethernet = rebuilt;
  private int headersFor = -1;

  /** The sender of the message that was opened. */
  private Gid sender;

  private int senderPort;

  private final Gid[] senders = new Gid[REMEMBERED];
  private int rememberedSenders;

  FrameLink(UdpSocket socket, Tap tap) {
    this.socket = socket;
    this.tap = tap;
    this.sender = socket.local;
  }

  /** Returns true for the GIDs that packets to this process name. */
  boolean isOwn(long gidHigh, long gidLow) {
    Gid local = socket.local;
    return local.high() == gidHigh && local.low() == gidLow;
  }

  /** The GID that packets come from. */
  Gid source() {
    return socket.local;
  }

  /** The UDP port that peers send to. */
  int port() {
    return socket.port;
  }

  /** Returns true for RoCEv2, whose frames have IP and UDP headers. */
  boolean isUdp() {
    return true;
  }

  /** The MAC address of a peer, or -1 when it is not known; asks for it then. */
  long mac(Gid peer) {
    return NO_MAC;
  }

  /**
   * Writes the headers of a packet right before {@code bth}.
   *
   * @param transport bytes from the BTH to the ICRC, both included
   * @return address of the Ethernet header
   */
  long writeHeaders(long bth, int transport, long peerMac, Gid peer, int peerPort, Packet packet) {
    return WireCapture.writeV2(
        bth,
        transport,
        peerMac,
        NO_MAC,
        source(),
        peer,
        socket.port,
        peerPort,
        packet.trafficClass,
        packet.flowLabel,
        packet.hopLimit);
  }

  /**
   * Queues a frame for sending; there is room.
   *
   * @param frame address of the Ethernet header
   * @param bth address of the base transport header
   * @param end behind the ICRC
   */
  void queue(long frame, long bth, long end, Gid peer, int peerPort, int trafficClass) {
    socket.out.queue(bth, (int) (end - bth), peer, peerPort, trafficClass);
  }

  /** Largest message in bytes, which are received at once. */
  int messageBytes() {
    return MESSAGE_BYTES;
  }

  /** Offset in memory of 64-byte alignment that a message is received to. */
  int receiveOffset() {
    return 0;
  }

  /**
   * Reads what came beside message {@code i}.
   *
   * @return the bytes of each of its datagrams but the last, 0 when it is one datagram
   */
  int open(int i) {
    socket.in.look(i);
    sender = sender(socket.in.senderAddress(i));
    senderPort = socket.in.senderPort(i);
    headersFor = -1;
    return socket.in.segmentBytes;
  }

  /** The UDP port that the message that was opened came from; 0 where none is known. */
  int senderPort() {
    return senderPort;
  }

  /** Finds the parts of a datagram of the message that was opened. */
  RoceFrame.Verdict parse(RoceFrame frame, long address, int bytes) {
    if (bytes != headersFor) {
      headersFor = bytes;
      ethernet =
          WireCapture.writeV2(
              rebuilt,
              Math.max(bytes, Icrc.BYTES),
              NO_MAC,
              NO_MAC,
              sender,
              socket.local,
              senderPort,
              socket.port,
              socket.in.trafficClass,
              0,
              socket.in.hopLimit);
    }
    if (bytes >= Bth.BYTES) {
      // The ICRC is computed over headers in one piece.
      RawMemory.copy(address, rebuilt, Bth.BYTES);
    }
    return frame.parseDatagram(
        ethernet + EthernetHeader.BYTES, !socket.local.isIpv4(), address, bytes);
  }

  /**
   * The datagram that was parsed as a frame in one piece, for captures.
   *
   * @return address of its Ethernet header
   */
  long whole(long address, int bytes) {
    RawMemory.copy(address, rebuilt, bytes);
    return ethernet;
  }

  /** Bytes of that frame. */
  int wholeBytes(int bytes) {
    return (int) (rebuilt - ethernet) + bytes;
  }

  private Gid sender(long address) {
    boolean ipv4 = socket.local.isIpv4();
    long high = ipv4 ? 0 : BigEndian.getLong(address);
    long low =
        ipv4 ? Gid.ipv4Low(BigEndian.getInt(address)) : BigEndian.getLong(address + Long.BYTES);
    for (int i = 0; i < rememberedSenders; i++) {
      Gid known = senders[i];
      if (known.low() == low && known.high() == high) {
        return known;
      }
    }
    Gid found = new Gid(high, low);
    senders[rememberedSenders % REMEMBERED] = found;
    rememberedSenders = Math.min(rememberedSenders + 1, REMEMBERED);
    return found;
  }

  /** A frame that is not RoCE arrived; UDP brings none. */
  void other(long frame, int bytes) {}
}
