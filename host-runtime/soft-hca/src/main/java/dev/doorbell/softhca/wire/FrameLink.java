package dev.doorbell.softhca.wire;

import dev.doorbell.core.pcap.Direction;
import dev.doorbell.core.roce.Gid;
import org.jspecify.annotations.Nullable;

/**
 * How whole frames leave the process and arrive. A frame starts with an Ethernet header; a link
 * that carries less of it, carries less.
 */
abstract class FrameLink {
  final UdpSocket socket;

  FrameLink(UdpSocket socket) {
    this.socket = socket;
  }

  /** The GIDs that packets to this process name. */
  abstract boolean isOwn(long gidHigh, long gidLow);

  /** The GID that packets come from. */
  abstract Gid source();

  /** How packets are framed. */
  abstract RoceVersion version();

  /** The UDP port that packets from queue pair {@code local} to {@code remote} come from. */
  abstract int sourcePort(int local, int remote);

  /** The MAC address of this end. */
  abstract long mac();

  /** The MAC address of a peer, or -1 when it is not known; asks for it then. */
  abstract long mac(Gid peer);

  /**
   * Queues a frame for sending; there is room.
   *
   * @param frame address of the Ethernet header
   * @param bth address of the base transport header
   * @param end behind the ICRC
   */
  abstract void queue(long frame, long bth, long end, Gid peer, int peerPort, int trafficClass);

  /** Where in a slot a datagram is received to. */
  abstract int receiveOffset();

  /**
   * Makes a frame of datagram {@code i}.
   *
   * @param slot the slot that it was received to
   * @return the address of the Ethernet header
   */
  abstract long frame(int i, long slot, int bytes);

  /** A frame that is not RoCE arrived. */
  abstract void other(long frame, int bytes);

  /** Who hears of frames that the link itself makes, besides packets. */
  interface Listener {
    void frame(Direction direction, long address, int bytes);
  }

  @Nullable Listener listener;
}
