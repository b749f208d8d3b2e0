package dev.doorbell.core.mlx5.prm;

import static dev.doorbell.core.mlx5.prm.PrmField.bit;
import static dev.doorbell.core.mlx5.prm.PrmField.bits;
import static dev.doorbell.core.mlx5.prm.PrmField.word;

/**
 * Fields of CREATE_QP, QUERY_QP and the transitions of a queue pair. In all of them, and in the
 * answer of QUERY_QP, the context (QPC) begins at byte 0x18 and the primary address path in it at
 * 0x30. Names that end in {@code _OFFSET} are places of 8-byte fields.
 */
public final class QueuePairContext {
  private static final int QPC = 0x18;
  private static final int PATH = QPC + 0x18;

  /** Bytes up to the end of the context. */
  public static final int BYTES = QPC + 0xe8;

  public static final PrmField OPT_PARAM_MASK = word(0x10);

  public static final PrmField STATE = bits(QPC, 31, 28);
  public static final PrmField SERVICE_TYPE = bits(QPC, 23, 16);
  public static final PrmField PM_STATE = bits(QPC, 12, 11);
  public static final PrmField PD = bits(QPC + 0x4, 23, 0);
  public static final PrmField MTU = bits(QPC + 0x8, 31, 29);
  public static final PrmField LOG_MSG_MAX = bits(QPC + 0x8, 28, 24);
  public static final PrmField LOG_RQ_SIZE = bits(QPC + 0x8, 22, 19);

  /** log2 of the bytes of a receive WQE, less 4. */
  public static final PrmField LOG_RQ_STRIDE = bits(QPC + 0x8, 18, 16);

  public static final PrmField NO_SQ = bit(QPC + 0x8, 15);
  public static final PrmField LOG_SQ_SIZE = bits(QPC + 0x8, 14, 11);
  public static final PrmField UAR_PAGE = bits(QPC + 0xc, 23, 0);

  /** 0: doorbells come with a doorbell record. */
  public static final PrmField SEND_DBR_MODE = bits(QPC + 0x10, 31, 30);

  public static final PrmField USER_INDEX = bits(QPC + 0x10, 23, 0);
  public static final PrmField REMOTE_QPN = bits(QPC + 0x14, 23, 0);
  public static final PrmField RLID = bits(PATH + 0x4, 15, 0);
  public static final PrmField ACK_TIMEOUT = bits(PATH + 0x8, 31, 27);
  public static final PrmField SRC_ADDR_INDEX = bits(PATH + 0x8, 23, 16);
  public static final PrmField HOP_LIMIT = bits(PATH + 0x8, 7, 0);
  public static final PrmField TCLASS = bits(PATH + 0xc, 27, 20);
  public static final int RGID_HIGH_OFFSET = PATH + 0x10;
  public static final int RGID_LOW_OFFSET = PATH + 0x18;
  public static final PrmField DSCP = bits(PATH + 0x20, 21, 16);
  public static final PrmField UDP_SPORT = bits(PATH + 0x20, 15, 0);
  public static final PrmField PORT_NUM = bits(PATH + 0x24, 23, 16);
  public static final PrmField RMAC_47_32 = bits(PATH + 0x24, 15, 0);
  public static final PrmField RMAC_31_0 = word(PATH + 0x28);
  public static final PrmField LOG_SRA_MAX = bits(QPC + 0x70, 23, 21);
  public static final PrmField RETRY_COUNT = bits(QPC + 0x70, 18, 16);
  public static final PrmField RNR_RETRY = bits(QPC + 0x70, 15, 13);
  public static final PrmField NEXT_SEND_PSN = bits(QPC + 0x78, 23, 0);
  public static final PrmField CQN_SND = bits(QPC + 0x7c, 23, 0);
  public static final PrmField LOG_RRA_MAX = bits(QPC + 0x90, 23, 21);
  public static final PrmField ATOMIC_MODE = bits(QPC + 0x90, 19, 16);

  /** Remote READs, remote WRITEs and remote atomics are allowed: bits 2, 1 and 0. */
  public static final PrmField REMOTE_ACCESS = bits(QPC + 0x90, 15, 13);

  public static final PrmField RRE = bit(QPC + 0x90, 15);
  public static final PrmField RWE = bit(QPC + 0x90, 14);
  public static final PrmField RAE = bit(QPC + 0x90, 13);
  public static final PrmField MIN_RNR_NAK = bits(QPC + 0x94, 28, 24);
  public static final PrmField NEXT_RCV_PSN = bits(QPC + 0x94, 23, 0);
  public static final PrmField CQN_RCV = bits(QPC + 0x9c, 23, 0);
  public static final int DBR_ADDR_OFFSET = QPC + 0xa0;
  public static final PrmField Q_KEY = word(QPC + 0xa8);
  public static final PrmField RQ_TYPE = bits(QPC + 0xac, 26, 24);
  public static final PrmField SRQN_RMPN = bits(QPC + 0xac, 23, 0);
  public static final PrmField RMSN = bits(QPC + 0xb0, 23, 0);
  public static final PrmField DBR_UMEM_VALID = bit(QPC + 0xd0, 28);
  public static final PrmField DBR_UMEM_ID = word(QPC + 0xe4);

  // CREATE_QP alone, behind the context.
  public static final int WQ_UMEM_OFFSET_OFFSET = 0x100;
  public static final PrmField WQ_UMEM_ID = word(0x108);
  public static final PrmField WQ_UMEM_VALID = bit(0x10c, 31);

  // Values of SERVICE_TYPE.
  public static final int RC = 0;
  public static final int UC = 1;
  public static final int UD = 3;
  public static final int DCI = 5;

  // Values of RQ_TYPE: an own ring is 0.
  public static final int SHARED_RECEIVES = 1;
  public static final int ZERO_SIZE_RECEIVES = 2;
  public static final int NO_RECEIVES = 3;

  /** Value of PM_STATE ({@code MLX5_QP_PM_MIGRATED}). */
  public static final int MIGRATED = 3;

  /** Bit of OPT_PARAM_MASK ({@code MLX5_QP_OPTPAR_Q_KEY}). */
  public static final int OPTPAR_Q_KEY = 1 << 5;

  private QueuePairContext() {}
}
