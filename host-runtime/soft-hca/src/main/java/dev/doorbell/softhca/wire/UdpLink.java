package dev.doorbell.softhca.wire;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.roce.Bth;
import dev.doorbell.core.roce.EthernetHeader;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.core.roce.Icrc;
import dev.doorbell.core.roce.RoceFrame;
import dev.doorbell.softhca.wire.WireCapture.Tap;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * RoCEv2 in UDP: the system makes and takes away Ethernet, IP and UDP headers. They are rebuilt for
 * the ICRC and for captures; DF and identification 0 are what a {@link UdpSocket} sends.
 */
final class UdpLink extends FrameLink {
  /** Peers whose GIDs are remembered, so that packets of theirs allocate nothing. */
  private static final int REMEMBERED = 64;

  private static final long NO_MAC = 0x02_00_00_00_00_00L;

  /** Of the largest message that the system gives. */
  private static final int MESSAGE_BYTES = 65_536;

  /** The headers that the system took away from the datagram that was parsed last. */
  private final MemorySegment headers =
      Arena.ofAuto().allocate(FrameHeaders.ROOM + MESSAGE_BYTES, Long.BYTES);

  private final long bth = headers.address() + FrameHeaders.ROOM;
  private long ethernet = bth;
  private int headersFor = -1;

  /** Who sent the message that was opened. */
  private Gid sender;

  private int senderPort;

  private final Gid[] senders = new Gid[REMEMBERED];
  private int rememberedSenders;

  UdpLink(UdpSocket socket, Tap tap) {
    super(socket, tap);
    this.sender = socket.local();
  }

  @Override
  boolean isOwn(long gidHigh, long gidLow) {
    Gid local = socket.local();
    return local.high() == gidHigh && local.low() == gidLow;
  }

  @Override
  Gid source() {
    return socket.local();
  }

  @Override
  RoceVersion version() {
    return RoceVersion.V2;
  }

  @Override
  int sourcePort(int local, int remote) {
    return socket.port();
  }

  @Override
  long mac() {
    return NO_MAC;
  }

  @Override
  long mac(Gid peer) {
    return NO_MAC;
  }

  @Override
  void queue(long frame, long bth, long end, Gid peer, int peerPort, int trafficClass) {
    socket.out.queue(bth, (int) (end - bth), peer, peerPort, trafficClass);
  }

  @Override
  int messageBytes() {
    return MESSAGE_BYTES;
  }

  @Override
  int receiveOffset() {
    return 0;
  }

  @Override
  int open(int i) {
    socket.in.look(i);
    sender = sender(socket.in.senderAddress(i));
    senderPort = socket.in.senderPort(i);
    headersFor = -1;
    return socket.in.segmentBytes();
  }

  @Override
  int senderPort() {
    return senderPort;
  }

  @Override
  RoceFrame.Verdict parse(RoceFrame frame, long address, int bytes) {
    if (bytes != headersFor) {
      headersFor = bytes;
      ethernet =
          FrameHeaders.writeV2(
              bth,
              Math.max(bytes, Icrc.BYTES),
              NO_MAC,
              NO_MAC,
              sender,
              socket.local(),
              senderPort,
              socket.port(),
              socket.in.trafficClass(),
              0,
              socket.in.hopLimit());
    }
    if (bytes >= Bth.BYTES) {
      // The ICRC is computed over headers in one piece.
      RawMemory.copy(address, bth, Bth.BYTES);
    }
    return frame.parseDatagram(
        ethernet + EthernetHeader.BYTES, !socket.local().isIpv4(), address, bytes);
  }

  @Override
  long whole(long address, int bytes) {
    RawMemory.copy(address, bth, bytes);
    return ethernet;
  }

  @Override
  int wholeBytes(int bytes) {
    return (int) (bth - ethernet) + bytes;
  }

  private Gid sender(long address) {
    boolean ipv4 = socket.local().isIpv4();
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

  @Override
  void other(long frame, int bytes) {
    // UDP brings nothing else.
  }
}
