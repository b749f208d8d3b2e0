package dev.doorbell.softhca.wire;

import dev.doorbell.core.roce.Gid;
import dev.doorbell.core.roce.RoceFrame;
import dev.doorbell.softhca.wire.WireCapture.Tap;

/**
 * How whole frames leave the process and arrive. A frame starts with an Ethernet header; a link
 * that carries less of it, carries less.
 */
abstract class FrameLink {
  final UdpSocket socket;

  /** Receives the frames that the link itself makes; {@link RoceWire} reports packets. */
  final Tap tap;

  FrameLink(UdpSocket socket, Tap tap) {
    this.socket = socket;
    this.tap = tap;
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

  /** Bytes that a message may have, and how many are received at once. */
  abstract int messageBytes();

  /** Where in memory of 64-byte alignment a message is received to. */
  abstract int receiveOffset();

  /**
   * Looks at what came beside message {@code i}.
   *
   * @return the bytes of each of its datagrams but the last, 0 when it is one datagram
   */
  abstract int open(int i);

  /** The UDP port that the message that was opened came from; 0 where none is known. */
  int senderPort() {
    return 0;
  }

  /** Finds the parts of a datagram of the message that was opened. */
  abstract RoceFrame.Verdict parse(RoceFrame frame, long address, int bytes);

  /**
   * The datagram that was parsed as a frame in one piece, for captures.
   *
   * @return address of its Ethernet header
   */
  abstract long whole(long address, int bytes);

  /** Bytes of that frame. */
  abstract int wholeBytes(int bytes);

  /** A frame that is not RoCE arrived. */
  abstract void other(long frame, int bytes);
}
