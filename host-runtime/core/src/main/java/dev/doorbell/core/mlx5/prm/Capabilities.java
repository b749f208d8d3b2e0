package dev.doorbell.core.mlx5.prm;

import static dev.doorbell.core.mlx5.prm.PrmField.bit;
import static dev.doorbell.core.mlx5.prm.PrmField.bits;

/** QUERY_HCA_CAP: the capabilities that a device has now. Offsets are those in the answer. */
public final class Capabilities {
  private static final int CAPABILITY = 0x10;
  private static final int CURRENT = 1;

  /** Bytes of the answer. */
  public static final int ANSWER_BYTES = CAPABILITY + 4096;

  // Groups, in OP_MOD above the bit that asks for the current values.
  public static final int GENERAL = 0;
  public static final int ODP = 2;
  public static final int ATOMIC = 3;
  public static final int ROCE = 4;

  // Of the general group.
  public static final PrmField LOG_MAX_QP_SZ = bits(CAPABILITY + 0x10, 23, 16);
  public static final PrmField LOG_MAX_QP = bits(CAPABILITY + 0x10, 4, 0);
  public static final PrmField LOG_MAX_CQ_SZ = bits(CAPABILITY + 0x18, 23, 16);
  public static final PrmField LOG_MAX_CQ = bits(CAPABILITY + 0x18, 4, 0);
  public static final PrmField PORT_TYPE = bits(CAPABILITY + 0x34, 9, 8);
  public static final PrmField NUM_PORTS = bits(CAPABILITY + 0x34, 7, 0);

  /** log2 of the largest message in bytes. */
  public static final PrmField LOG_MAX_MSG = bits(CAPABILITY + 0x38, 28, 24);

  /** 1: CQEs have the user's indexes of queues. */
  public static final PrmField CQE_VERSION = bits(CAPABILITY + 0x3c, 3, 0);

  /** How many indirect keys may stand one behind the other. */
  public static final PrmField MAX_INDIRECTION = bits(CAPABILITY + 0x20, 31, 24);

  /** {@code fixed_buffer_size}: there are keys whose entries name pieces of one size. */
  public static final PrmField FIXED_BUFFER_SIZE = bit(CAPABILITY + 0x20, 23);

  public static final PrmField LOG_MAX_KLM_LIST_SIZE = bits(CAPABILITY + 0x20, 5, 0);

  /** {@code log_max_ra_req_dc} and {@code log_max_ra_res_dc}: READs and atomics of DC. */
  public static final PrmField LOG_MAX_RA_REQ_DC = bits(CAPABILITY + 0x24, 21, 16);

  public static final PrmField LOG_MAX_RA_RES_DC = bits(CAPABILITY + 0x24, 5, 0);

  /** {@code dct}: there are targets of dynamic connections. */
  public static final PrmField DCT = bit(CAPABILITY + 0x40, 5);

  public static final PrmField ROCE_SUPPORTED = bit(CAPABILITY + 0x40, 2);
  public static final PrmField ATOMIC_SUPPORTED = bit(CAPABILITY + 0x40, 1);
  public static final PrmField RC_SUPPORTED = bit(CAPABILITY + 0x44, 0);
  public static final PrmField BLUEFLAME = bit(CAPABILITY + 0x4c, 31);

  /** log2 of the bytes of a BlueFlame register, which has two halves. */
  public static final PrmField LOG_BF_REG_SIZE = bits(CAPABILITY + 0x4c, 20, 16);

  public static final PrmField MAX_WQE_SZ_SQ = bits(CAPABILITY + 0x50, 15, 0);
  public static final PrmField MAX_WQE_SZ_RQ = bits(CAPABILITY + 0x54, 15, 0);

  /** log2 of the number of shared receive queues that CREATE_RMP creates. */
  public static final PrmField LOG_MAX_RMP = bits(CAPABILITY + 0x70, 28, 24);

  // Of the group of atomics.
  /** 1: results have the byte order of the host. */
  public static final PrmField ATOMIC_8B_ENDIANNESS = bits(CAPABILITY + 0x8, 31, 30);

  /** {@code supported_atomic_req_8B_endianness_mode_1}: {@link #ATOMIC_8B_ENDIANNESS} may be 1. */
  public static final PrmField ATOMIC_8B_ENDIANNESS_1 = bit(CAPABILITY + 0x8, 25);

  /** Bits: compare-and-swap, fetch-add, and the masked forms of both. */
  public static final PrmField ATOMIC_OPERATIONS = bits(CAPABILITY + 0x10, 15, 0);

  /** Operand sizes in bytes on connections, as bits: 4 and 8 are 0xc. */
  public static final PrmField ATOMIC_SIZE_QP = bits(CAPABILITY + 0x14, 15, 0);

  /** As {@link #ATOMIC_SIZE_QP}, on dynamic connections. */
  public static final PrmField ATOMIC_SIZE_DC = bits(CAPABILITY + 0x18, 15, 0);

  /**
   * Of {@link #ODP}, what the transport can do with memory on demand: from bit 31 on SEND,
   * receives, WRITE, READ, atomics and receives of a shared queue.
   */
  public static final PrmField ODP_RC = bits(CAPABILITY + 0x10, 31, 26);

  public static final PrmField ODP_UC = bits(CAPABILITY + 0x14, 31, 26);
  public static final PrmField ODP_UD = bits(CAPABILITY + 0x18, 31, 26);
  public static final PrmField ODP_DC = bits(CAPABILITY + 0x20, 31, 26);

  // Of the RoCE group.
  public static final PrmField ROCE_VERSION = bits(CAPABILITY + 0x10, 7, 0);
  public static final PrmField DEST_UDP_PORT = bits(CAPABILITY + 0x14, 15, 0);
  public static final PrmField MAX_SRC_UDP_PORT = bits(CAPABILITY + 0x18, 31, 16);
  public static final PrmField MIN_SRC_UDP_PORT = bits(CAPABILITY + 0x18, 15, 0);
  public static final PrmField ROCE_ADDRESS_TABLE_SIZE = bits(CAPABILITY + 0x1c, 15, 0);

  private final PrmBuffer answer;

  /**
   * Reads an answer.
   *
   * @param answer of {@link #query}
   */
  public Capabilities(PrmBuffer answer) {
    this.answer = answer;
  }

  /** The command for the general capabilities. */
  public static PrmBuffer query() {
    return PrmBuffer.command(PrmBuffer.HEADER_BYTES, CommandHeader.QUERY_HCA_CAP)
        .put(CommandHeader.OP_MOD, GENERAL << 1 | CURRENT);
  }

  /** The group that a query asks for. */
  public static int group(PrmBuffer query) {
    return query.get(CommandHeader.OP_MOD) >>> 1;
  }

  /** log2 of the largest queue in WQEs; 0 where the device does not say. */
  public int logLargestQueue() {
    return answer.get(LOG_MAX_QP_SZ);
  }

  /** log2 of the number of queue pairs. */
  public int logQueuePairs() {
    return answer.get(LOG_MAX_QP);
  }

  /** log2 of the largest completion queue. */
  public int logLargestCompletionQueue() {
    return answer.get(LOG_MAX_CQ_SZ);
  }

  /** Bytes of one half of a BlueFlame register; 0 where there is none. */
  public int blueFlameBytes() {
    int log = answer.get(LOG_BF_REG_SIZE);
    return answer.isSet(BLUEFLAME) && log > 0 ? 1 << (log - 1) : 0;
  }
}
