package dev.doorbell.core.mlx5.prm.generated;

import dev.doorbell.core.mlx5.prm.PrmField;
import javax.annotation.processing.Generated;

/**
 * QUERY_HCA_CAP: the capabilities that a device has now. Offsets are those in the answer.
 *
 * <p>Written by FormatsTest from src/main/formats/prm.txt.
 */
@Generated("FormatsTest")
public class CapabilityFields {
  public static final PrmField LOG_MAX_QP_SZ = new PrmField(0x20, 23, 16);

  public static final PrmField LOG_MAX_QP = new PrmField(0x20, 4, 0);

  /** {@code ece}: commands of queue pairs take options of ECE; none is granted. */
  public static final PrmField ECE = new PrmField(0x24, 28, 28);

  public static final PrmField LOG_MAX_CQ_SZ = new PrmField(0x28, 23, 16);

  public static final PrmField LOG_MAX_CQ = new PrmField(0x28, 4, 0);

  public static final PrmField PORT_TYPE = new PrmField(0x44, 9, 8);

  public static final PrmField NUM_PORTS = new PrmField(0x44, 7, 0);

  /** log2 of the largest message in bytes. */
  public static final PrmField LOG_MAX_MSG = new PrmField(0x48, 28, 24);

  /** 1: CQEs have the user's indexes of queues. */
  public static final PrmField CQE_VERSION = new PrmField(0x4c, 3, 0);

  /** Number of indirect keys that may stand one behind the other. */
  public static final PrmField MAX_INDIRECTION = new PrmField(0x30, 31, 24);

  /** {@code fixed_buffer_size}: there are keys whose entries name pieces of one size. */
  public static final PrmField FIXED_BUFFER_SIZE = new PrmField(0x30, 23, 23);

  public static final PrmField LOG_MAX_KLM_LIST_SIZE = new PrmField(0x30, 5, 0);

  /** {@code log_max_ra_req_dc} and {@code log_max_ra_res_dc}: READs and atomics of DC. */
  public static final PrmField LOG_MAX_RA_REQ_DC = new PrmField(0x34, 21, 16);

  public static final PrmField LOG_MAX_RA_RES_DC = new PrmField(0x34, 5, 0);

  /** {@code dct}: there are targets of dynamic connections. */
  public static final PrmField DCT = new PrmField(0x50, 5, 5);

  public static final PrmField ROCE_SUPPORTED = new PrmField(0x50, 2, 2);

  public static final PrmField ATOMIC_SUPPORTED = new PrmField(0x50, 1, 1);

  public static final PrmField RC_SUPPORTED = new PrmField(0x54, 0, 0);

  public static final PrmField BLUEFLAME = new PrmField(0x5c, 31, 31);

  /** log2 of the bytes of a BlueFlame register, which has two halves. */
  public static final PrmField LOG_BF_REG_SIZE = new PrmField(0x5c, 20, 16);

  public static final PrmField MAX_WQE_SZ_SQ = new PrmField(0x60, 15, 0);

  public static final PrmField MAX_WQE_SZ_RQ = new PrmField(0x64, 15, 0);

  /** log2 of the number of shared receive queues that CREATE_RMP creates. */
  public static final PrmField LOG_MAX_RMP = new PrmField(0x80, 28, 24);

  /** 1: results have the byte order of the host. */
  public static final PrmField ATOMIC_8B_ENDIANNESS = new PrmField(0x18, 31, 30);

  /** {@code supported_atomic_req_8B_endianness_mode_1}: {@link #ATOMIC_8B_ENDIANNESS} may be 1. */
  public static final PrmField ATOMIC_8B_ENDIANNESS_1 = new PrmField(0x18, 25, 25);

  /** Bits: compare-and-swap, fetch-add, and the masked forms of both. */
  public static final PrmField ATOMIC_OPERATIONS = new PrmField(0x20, 15, 0);

  /** Operand sizes in bytes on connections, as bits: 4 and 8 are 0xc. */
  public static final PrmField ATOMIC_SIZE_QP = new PrmField(0x24, 15, 0);

  /** Like {@link #ATOMIC_SIZE_QP}, on dynamic connections. */
  public static final PrmField ATOMIC_SIZE_DC = new PrmField(0x28, 15, 0);

  /**
   * On-demand memory ({@link #ODP}) that the transport supports: from bit 31 on SEND, receives,
   * WRITE, READ, atomics and receives of a shared queue.
   */
  public static final PrmField ODP_RC = new PrmField(0x20, 31, 26);

  public static final PrmField ODP_UC = new PrmField(0x24, 31, 26);

  public static final PrmField ODP_UD = new PrmField(0x28, 31, 26);

  public static final PrmField ODP_DC = new PrmField(0x30, 31, 26);

  public static final PrmField ROCE_VERSION = new PrmField(0x20, 7, 0);

  public static final PrmField DEST_UDP_PORT = new PrmField(0x24, 15, 0);

  public static final PrmField MAX_SRC_UDP_PORT = new PrmField(0x28, 31, 16);

  public static final PrmField MIN_SRC_UDP_PORT = new PrmField(0x28, 15, 0);

  public static final PrmField ROCE_ADDRESS_TABLE_SIZE = new PrmField(0x2c, 15, 0);

  /** Bytes of the answer. */
  public static final int ANSWER_BYTES = 0x1010;

  public static final int GENERAL = 0;

  public static final int ODP = 2;

  public static final int ATOMIC = 3;

  public static final int ROCE = 4;

  protected CapabilityFields() {}
}
