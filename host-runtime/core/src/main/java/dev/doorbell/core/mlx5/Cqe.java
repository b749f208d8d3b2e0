package dev.doorbell.core.mlx5;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.generated.CqeFields;

/**
 * A completion queue entry of 64 bytes. The HCA writes the last word last: a poller calls {@link
 * #isOwnedBySoftware} first, which orders the other getters after it.
 */
public final class Cqe extends CqeFields {
  /** Entry to bytes. */
  public static final int SHIFT = 6;

  /** Every byte of a fresh ring, so that no entry of it looks complete. */
  public static final byte INITIAL_FILL = (byte) 0xff;

  private static final int OWNER_BIT = 0x01;
  private static final int SOLICITED_BIT = 0x02;
  private static final int OPCODE_SHIFT = 4;
  private static final int WQE_OPCODE_SHIFT = 24;
  private static final int QPN_MASK = 0xff_ffff;
  private static final int GLOBAL_ROUTE = 1 << 28;
  private static final int PACKET_TYPE_SHIFT = 24;

  private Cqe() {}

  /** The address of entry {@code index} of a ring of {@code ringSize} (a power of two). */
  public static long entryAddress(long ring, int ringSize, long index) {
    return ring + ((index & (ringSize - 1)) << SHIFT);
  }

  /** The owner bit of the {@code index}-th CQE ever written to a ring of {@code ringSize}. */
  public static int ownerFor(long index, int ringSize) {
    return (index & ringSize) == 0 ? 0 : 1;
  }

  /** Makes a fresh ring: no entry looks complete. */
  public static void fillInitial(long ring, int ringSize) {
    RawMemory.fill(ring, (long) ringSize << SHIFT, INITIAL_FILL);
  }

  /**
   * True when the HCA has written the entry for {@code consumerIndex}. Reads with acquire
   * semantics: after true, the other fields are those of this CQE.
   *
   * @param consumerIndex CQEs consumed so far
   * @param ringSize entries of the ring, a power of two
   */
  public static boolean isOwnedBySoftware(long address, long consumerIndex, int ringSize) {
    int opOwn = RawMemory.getByteAcquire(address + OP_OWN_OFFSET) & 0xff;
    return opOwn >>> OPCODE_SHIFT != INVALID
        && (opOwn & OWNER_BIT) == ownerFor(consumerIndex, ringSize);
  }

  /**
   * Writes a requester's CQE: all 64 bytes, the last word with release semantics.
   *
   * @param wqeOpcode the opcode of the WQE that completed
   * @param wqeCounter index of its first block; 16 bits count
   * @param byteCount bytes moved
   * @param owner see {@link #ownerFor}
   */
  public static void writeRequester(
      long address,
      int wqeOpcode,
      int qpn,
      int wqeCounter,
      int byteCount,
      long timestamp,
      int owner) {
    clearUntil(address, BYTE_COUNT_OFFSET);
    writeTail(address, byteCount, timestamp, wqeOpcode, qpn);
    publish(address, wqeCounter, REQUESTER, false, owner);
  }

  /**
   * Writes a responder's CQE: all 64 bytes, the last word with release semantics.
   *
   * @param opcode one of {@code RESPONDER_*}
   * @param userIndex of the queue pair
   * @param immediate immediate data or invalidated key, in host order; 0 where there is none
   * @param wqeCounter index of the receive WQE that was consumed
   * @param solicited the sender's solicited bit
   */
  public static void writeResponder(
      long address,
      int opcode,
      int qpn,
      int userIndex,
      int wqeCounter,
      int byteCount,
      int immediate,
      boolean solicited,
      long timestamp,
      int owner) {
    clearUntil(address, USER_INDEX_OFFSET);
    BigEndian.putInt(address + USER_INDEX_OFFSET, userIndex);
    BigEndian.putInt(address + IMMEDIATE_OFFSET, immediate);
    RawMemory.putInt(address + IMMEDIATE_OFFSET + Integer.BYTES, 0);
    writeTail(address, byteCount, timestamp, 0, qpn);
    publish(address, wqeCounter, opcode, solicited, owner);
  }

  /**
   * Writes the last entry of a ring whose queue goes on in another one: all 64 bytes, the last word
   * with release semantics.
   *
   * @param owner see {@link #ownerFor}
   */
  public static void writeResize(long address, int owner) {
    clearUntil(address, BYTE_COUNT_OFFSET);
    writeTail(address, 0, 0, 0, 0);
    publish(address, 0, RESIZE, false, owner);
  }

  /**
   * The word {@code flags_rqpn} of a RoCE v2 datagram: 40 bytes of global route header stand before
   * the payload. The packet type of RoCE, which verbs show as service level, is that of {@code
   * enum} {@code MLX5_CQE_ROCE_L3_HEADER_TYPE_*} of Linux: 1 for IPv6, 2 for IPv4.
   */
  public static int sender(int remoteQpn, boolean ipv4) {
    return GLOBAL_ROUTE | (ipv4 ? 2 : 1) << PACKET_TYPE_SHIFT | (remoteQpn & QPN_MASK);
  }

  /**
   * Adds the user's name of a queue to a CQE, also of an error, before it is published elsewhere.
   */
  public static void putUserIndex(long address, int userIndex) {
    BigEndian.putInt(address + USER_INDEX_OFFSET, userIndex);
  }

  /** Adds to a responder's CQE, before it is published elsewhere, a {@link #sender}. */
  public static void putSender(long address, int sender) {
    BigEndian.putInt(address + REMOTE_QPN_OFFSET, sender);
  }

  private static void writeTail(
      long address, int byteCount, long timestamp, int wqeOpcode, int qpn) {
    BigEndian.putInt(address + BYTE_COUNT_OFFSET, byteCount);
    BigEndian.putLong(address + TIMESTAMP_OFFSET, timestamp);
    BigEndian.putInt(
        address + SOP_DROP_QPN_OFFSET, wqeOpcode << WQE_OPCODE_SHIFT | (qpn & QPN_MASK));
  }

  /** Zeroes {@code [0, end)}. */
  static void clearUntil(long address, int end) {
    int at = 0;
    for (; at + Long.BYTES <= end; at += Long.BYTES) {
      RawMemory.putLong(address + at, 0);
    }
    for (; at < end; at += Integer.BYTES) {
      RawMemory.putInt(address + at, 0);
    }
  }

  /** Writes the last word in one release store, as the HCA's one write makes it appear. */
  static void publish(long address, int wqeCounter, int opcode, boolean solicited, int owner) {
    int opOwn = opcode << OPCODE_SHIFT | (solicited ? SOLICITED_BIT : 0) | (owner & OWNER_BIT);
    RawMemory.putIntRelease(
        address + WQE_COUNTER_OFFSET, BigEndian.swap((wqeCounter & 0xffff) << 16 | opOwn));
  }
}
