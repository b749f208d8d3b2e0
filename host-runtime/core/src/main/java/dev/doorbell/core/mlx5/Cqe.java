package dev.doorbell.core.mlx5;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;

/**
 * A completion queue entry of 64 bytes: {@code struct mlx5_cqe64} of rdma-core
 * providers/mlx5/mlx5dv.h. Big-endian.
 *
 * <pre>
 *   31            24 23            16 15             8 7            0
 *  +----------------+----------------+----------------+--------------+
 *  |          receive and offload fields, not used here             ...  0x00
 *  +----------------+----------------+----------------+--------------+
 *  |          vlan_info              |              slid             |  0x14
 *  +----------------+----------------+----------------+--------------+
 *  |     flags      |                remote QPN                      |  0x18
 *  +----------------+----------------+----------------+--------------+
 *  |                     not used here                               |  0x1c
 *  +----------------+------------------------------------------------+
 *  |                   srqn_uidx: user index                         |  0x20
 *  +-----------------------------------------------------------------+
 *  |          imm_inval_pkey: immediate data, invalidated key        |  0x24
 *  +----------------+----------------+-------------------------------+
 *  |      app       |     app_op     |           app_info            |  0x28
 *  +----------------+----------------+-------------------------------+
 *  |                        byte_cnt                                 |  0x2c
 *  +-----------------------------------------------------------------+
 *  |                        timestamp                                |  0x30
 *  +                                                                 +
 *  |                                                                 |  0x34
 *  +----------------+------------------------------------------------+
 *  |   WQE opcode   |                    QPN                         |  0x38
 *  +----------------+----------------+----------------+-----+---+-+-+
 *  |           wqe_counter           |   signature    |  op |fmt|s|o|  0x3c
 *  +---------------------------------+----------------+-----+---+-+-+
 * </pre>
 *
 * <p>The HCA writes the last word last. Whoever polls asks {@link #isOwnedBySoftware} first, which
 * orders the other getters after it.
 */
public final class Cqe {
  /** Bytes of an entry. */
  public static final int BYTES = 64;

  /** Entry to bytes. */
  public static final int SHIFT = 6;

  /** {@code slid}. */
  public static final int SLID_OFFSET = 0x16;

  /** {@code flags_rqpn}. */
  public static final int REMOTE_QPN_OFFSET = 0x18;

  /** {@code srqn_uidx}. */
  public static final int USER_INDEX_OFFSET = 0x20;

  /** {@code imm_inval_pkey}. */
  public static final int IMMEDIATE_OFFSET = 0x24;

  /** {@code byte_cnt}. */
  public static final int BYTE_COUNT_OFFSET = 0x2c;

  /** {@code timestamp}. */
  public static final int TIMESTAMP_OFFSET = 0x30;

  /** {@code sop_drop_qpn}. */
  public static final int SOP_DROP_QPN_OFFSET = 0x38;

  /** {@code wqe_counter}. */
  public static final int WQE_COUNTER_OFFSET = 0x3c;

  /** {@code signature}. */
  public static final int SIGNATURE_OFFSET = 0x3e;

  /** {@code op_own}. */
  public static final int OP_OWN_OFFSET = 0x3f;

  /** Opcode: a send queue's work request is done. */
  public static final int REQUESTER = 0;

  /** Opcode: a WRITE with immediate arrived. */
  public static final int RESPONDER_WRITE_IMM = 1;

  /** Opcode: a SEND arrived. */
  public static final int RESPONDER_SEND = 2;

  /** Opcode: a SEND with immediate arrived. */
  public static final int RESPONDER_SEND_IMM = 3;

  /** Opcode: a SEND with invalidate arrived. */
  public static final int RESPONDER_SEND_INVAL = 4;

  /** Opcode: entries from here on are in the resized ring. */
  public static final int RESIZE = 5;

  /** Opcode: no packet. */
  public static final int NO_PACKET = 6;

  /** Opcode: signature error. */
  public static final int SIGNATURE_ERROR = 12;

  /** Opcode: a send queue's work request failed; see {@link ErrorCqe}. */
  public static final int REQUESTER_ERROR = 13;

  /** Opcode: a receive failed; see {@link ErrorCqe}. */
  public static final int RESPONDER_ERROR = 14;

  /** Opcode of an entry that was never written. */
  public static final int INVALID = 15;

  /** What every byte of a fresh ring holds, so that no entry of it looks complete. */
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

  /** {@link #REQUESTER} to {@link #INVALID}. */
  public static int opcode(long address) {
    return (RawMemory.getByte(address + OP_OWN_OFFSET) & 0xff) >>> OPCODE_SHIFT;
  }

  /** True for the opcodes that {@link ErrorCqe} reads. */
  public static boolean isError(int opcode) {
    return opcode == REQUESTER_ERROR || opcode == RESPONDER_ERROR;
  }

  /** Whether and where the CQE carries payload (inline scatter); 0 means not. */
  public static int format(long address) {
    return (RawMemory.getByte(address + OP_OWN_OFFSET) >>> 2) & 3;
  }

  /** True when the sender asked for a solicited event. */
  public static boolean isSolicited(long address) {
    return (RawMemory.getByte(address + OP_OWN_OFFSET) & SOLICITED_BIT) != 0;
  }

  /** The owner bit. */
  public static int owner(long address) {
    return RawMemory.getByte(address + OP_OWN_OFFSET) & OWNER_BIT;
  }

  /** 16-bit index of the first block of the WQE that completed; of a receive, its index. */
  public static int wqeCounter(long address) {
    return BigEndian.getShort(address + WQE_COUNTER_OFFSET) & 0xffff;
  }

  /** WQE opcode in bits 31:24, queue pair number in 23:0. */
  public static int sopDropQpn(long address) {
    return BigEndian.getInt(address + SOP_DROP_QPN_OFFSET);
  }

  /** The 24-bit number of the queue pair. */
  public static int qpn(long address) {
    return sopDropQpn(address) & QPN_MASK;
  }

  /** The opcode of the WQE that completed ({@link Opcode}); 0 for receives. */
  public static int wqeOpcode(long address) {
    return sopDropQpn(address) >>> WQE_OPCODE_SHIFT;
  }

  /** Bytes moved. */
  public static int byteCount(long address) {
    return BigEndian.getInt(address + BYTE_COUNT_OFFSET);
  }

  /** Immediate data or the invalidated key, in host order. */
  public static int immediate(long address) {
    return BigEndian.getInt(address + IMMEDIATE_OFFSET);
  }

  /** The user index of the queue pair, where the HCA reports it (cqe_version 1). */
  public static int userIndex(long address) {
    return BigEndian.getInt(address + USER_INDEX_OFFSET);
  }

  /** The peer's 24-bit queue pair number, for unconnected transports. */
  public static int remoteQpn(long address) {
    return BigEndian.getInt(address + REMOTE_QPN_OFFSET) & QPN_MASK;
  }

  /** Ticks of the HCA's clock. */
  public static long timestamp(long address) {
    return BigEndian.getLong(address + TIMESTAMP_OFFSET);
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

  /** The packet type of {@link #sender}: 1 for IPv6, 2 for IPv4. */
  public static int packetType(long address) {
    return BigEndian.getInt(address + REMOTE_QPN_OFFSET) >>> PACKET_TYPE_SHIFT & 3;
  }

  /** True when 40 bytes of global route header stand before the payload of a datagram. */
  public static boolean hasGlobalRoute(long address) {
    return (BigEndian.getInt(address + REMOTE_QPN_OFFSET) & GLOBAL_ROUTE) != 0;
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

  /** The name of a CQE opcode. */
  public static String opcodeName(int opcode) {
    return switch (opcode) {
      case REQUESTER -> "REQ";
      case RESPONDER_WRITE_IMM -> "RESP_WR_IMM";
      case RESPONDER_SEND -> "RESP_SEND";
      case RESPONDER_SEND_IMM -> "RESP_SEND_IMM";
      case RESPONDER_SEND_INVAL -> "RESP_SEND_INV";
      case RESIZE -> "RESIZE_CQ";
      case NO_PACKET -> "NO_PACKET";
      case SIGNATURE_ERROR -> "SIG_ERR";
      case REQUESTER_ERROR -> "REQ_ERR";
      case RESPONDER_ERROR -> "RESP_ERR";
      case INVALID -> "INVALID";
      default -> "CQE opcode " + opcode;
    };
  }
}
