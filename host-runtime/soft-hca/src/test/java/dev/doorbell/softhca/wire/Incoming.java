package dev.doorbell.softhca.wire;

import dev.doorbell.core.memory.RawMemory;

/**
 * Datagrams that have arrived, many a call. A message may be several datagrams of one peer and one
 * size in a row, the last of them perhaps shorter: what was sent as one and was not cut (UDP_GRO).
 */
final class Incoming {
  private final LinuxSockets libc;
  private final int socket;
  private final boolean ipv6;
  private final MessageBlock block;

  /** Messages a call. */
  final int capacity;

  // What came beside the message that was looked at last.

  /** Bytes of each datagram of the message but the last; 0 when it is one datagram. */
  int segmentBytes;

  /** DSCP and ECN of the message that was looked at. */
  int trafficClass;

  /** Hop limit of the message that was looked at. */
  int hopLimit;

  /** Datagrams that the system dropped because nobody took them in time. */
  long kernelDrops;

  private int lastDropCount;

  /**
   * @param capacity messages a call
   */
  Incoming(LinuxSockets libc, int socket, boolean ipv6, int capacity) {
    this.libc = libc;
    this.socket = socket;
    this.ipv6 = ipv6;
    this.capacity = capacity;
    this.block = new MessageBlock(capacity, capacity, ipv6);
    for (int i = 0; i < capacity; i++) {
      block.pieces(i, i, 1);
    }
  }

  /** Sets the memory that message {@code i} of the next {@link #receive} goes to. */
  void receiveAt(int i, long address, int bytes) {
    block.piece(i, address, bytes);
  }

  /**
   * Takes messages that have arrived, up to {@link #capacity}.
   *
   * @return how many there are
   */
  int receive() {
    for (int i = 0; i < capacity; i++) {
      block.prepare(i);
    }
    return Math.max(0, libc.recvmmsg(socket, block.message(0), capacity));
  }

  /** Bytes of message {@code i}, or -1 when it was longer than its room. */
  int bytes(int i) {
    return block.bytes(i);
  }

  /** Native address of the sender's IPv4 or IPv6 address. */
  long senderAddress(int i) {
    return block.nameAddress(i);
  }

  /** The sender's port. */
  int senderPort(int i) {
    return block.port(i);
  }

  /** Reads what came beside message {@code i}. */
  void look(int i) {
    segmentBytes = 0;
    trafficClass = 0;
    hopLimit = 0;
    long at = block.control(i);
    long end = block.controlEnd(i);
    while (at + MessageBlock.CONTROL_DATA <= end) {
      long length = RawMemory.getLong(at);
      if (length < MessageBlock.CONTROL_DATA) {
        return;
      }
      take(RawMemory.getInt(at + 8), RawMemory.getInt(at + 12), at + MessageBlock.CONTROL_DATA);
      at += (length + 7) & -8;
    }
  }

  private void take(int level, int type, long data) {
    if (level == LinuxSockets.SOL_SOCKET && type == LinuxSockets.SO_RXQ_OVFL) {
      int count = RawMemory.getInt(data);
      kernelDrops += count - lastDropCount;
      lastDropCount = count;
    } else if (level == LinuxSockets.SOL_UDP && type == LinuxSockets.UDP_GRO) {
      segmentBytes = RawMemory.getInt(data);
    } else if (ipv6 && level == LinuxSockets.IPPROTO_IPV6) {
      if (type == LinuxSockets.IPV6_TCLASS) {
        trafficClass = RawMemory.getInt(data);
      } else if (type == LinuxSockets.IPV6_HOPLIMIT) {
        hopLimit = RawMemory.getInt(data);
      }
    } else if (!ipv6 && level == LinuxSockets.IPPROTO_IP) {
      if (type == LinuxSockets.IP_TOS) {
        trafficClass = RawMemory.getByte(data) & 0xff;
      } else if (type == LinuxSockets.IP_TTL) {
        hopLimit = RawMemory.getInt(data);
      }
    }
  }
}
