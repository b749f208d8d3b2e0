package dev.doorbell.push;

import dev.doorbell.push.network.Frame;

/**
 * Engines send each other these. Sequence numbers have 24 bits, as RoCE's packet sequence numbers.
 */
final class PushFrame extends Frame {
  /** Ethernet, IPv4, UDP, BTH, RETH, ICRC, frame check, preamble and gap. */
  static final int DATA_OVERHEAD = 98;

  /** The smallest frame, with preamble and gap. */
  static final int CONTROL_BYTES = 84;

  private static final byte[] NOTHING = {};

  enum Kind {
    DATA,
    /** Everything below the sequence number has arrived. */
    ACK,
    /** The sequence number is missing. */
    NAK,
    /** The sender would like to send what is below the limit. */
    REQUEST,
    /** It may send what is below the limit. */
    GRANT
  }

  final Kind kind;

  /** Number of the sender's ring. */
  final int ring;

  final int sequence;
  final byte[] payload;
  final long remote;
  final int checksum;
  final boolean checked;

  /** Index of the message in its ring: for the checker, on no real wire. */
  final long index;

  /** ACK: the data was marked. */
  final boolean echo;

  /** REQUEST, GRANT: sequence numbers below are wanted, may go. */
  final int limit;

  private PushFrame(
      Kind kind,
      int source,
      int destination,
      int bytes,
      int ring,
      int sequence,
      Message message,
      boolean echo,
      int limit) {
    super(source, destination, bytes, 0, false);
    this.kind = kind;
    this.ring = ring;
    this.sequence = sequence;
    this.payload = kind == Kind.DATA ? message.payload() : NOTHING;
    this.remote = message.remote;
    this.checksum = message.checksum;
    this.checked = message.checked;
    this.index = message.index;
    this.echo = echo;
    this.limit = limit;
  }

  static PushFrame data(int source, int ring, Message message) {
    return new PushFrame(
        Kind.DATA,
        source,
        message.destination,
        message.bytes + DATA_OVERHEAD,
        ring,
        message.sequence,
        message,
        false,
        0);
  }

  static PushFrame control(
      Kind kind, int source, int destination, int ring, int sequence, boolean echo, int limit) {
    return new PushFrame(
        kind, source, destination, CONTROL_BYTES, ring, sequence, Message.NONE, echo, limit);
  }
}
