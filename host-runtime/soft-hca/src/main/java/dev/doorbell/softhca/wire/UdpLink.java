package dev.doorbell.softhca.wire;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.core.roce.Icrc;

/**
 * RoCEv2 in UDP: the system makes and takes away Ethernet, IP and UDP headers. They are rebuilt for
 * the ICRC and for captures; DF and identification 0 are what a {@link UdpSocket} sends.
 */
final class UdpLink extends FrameLink {
  /** Peers whose GIDs are remembered, so that packets of theirs allocate nothing. */
  private static final int REMEMBERED = 64;

  private static final long NO_MAC = 0x02_00_00_00_00_00L;

  private final Gid[] senders = new Gid[REMEMBERED];
  private int rememberedSenders;

  UdpLink(UdpSocket socket) {
    super(socket);
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
    socket.queue(bth, (int) (end - bth), peer, peerPort, trafficClass);
  }

  @Override
  int receiveOffset() {
    return FrameHeaders.ROOM;
  }

  @Override
  long frame(int i, long slot, int bytes) {
    long bth = slot + FrameHeaders.ROOM;
    socket.look(i);
    return FrameHeaders.writeV2(
        bth,
        Math.max(bytes, Icrc.BYTES),
        NO_MAC,
        NO_MAC,
        sender(socket.senderAddress(i)),
        socket.local(),
        socket.senderPort(i),
        socket.port(),
        socket.trafficClass(),
        0,
        socket.hopLimit());
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
