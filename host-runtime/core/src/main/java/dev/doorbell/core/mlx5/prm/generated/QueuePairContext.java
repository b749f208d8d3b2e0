package dev.doorbell.core.mlx5.prm.generated;

import dev.doorbell.core.mlx5.prm.PrmField;
import javax.annotation.processing.Generated;

/**
 * Fields of CREATE_QP, QUERY_QP and the transitions of a queue pair. In all of them, and in the
 * answer of QUERY_QP, the context (QPC) begins at byte 0x18 and the primary address path in it at
 * 0x30. Names that end in {@code _OFFSET} are places of 8-byte fields.
 *
 * <p>Written by FormatsTest from src/main/formats/prm.txt.
 */
@Generated("FormatsTest")
public class QueuePairContext {
  public static final PrmField OPT_PARAM_MASK = new PrmField(0x10, 31, 0);

  public static final PrmField STATE = new PrmField(0x18, 31, 28);

  public static final PrmField SERVICE_TYPE = new PrmField(0x18, 23, 16);

  public static final PrmField PM_STATE = new PrmField(0x18, 12, 11);

  public static final PrmField PD = new PrmField(0x1c, 23, 0);

  public static final PrmField MTU = new PrmField(0x20, 31, 29);

  public static final PrmField LOG_MSG_MAX = new PrmField(0x20, 28, 24);

  public static final PrmField LOG_RQ_SIZE = new PrmField(0x20, 22, 19);

  /** log2 of the bytes of a receive WQE, less 4. */
  public static final PrmField LOG_RQ_STRIDE = new PrmField(0x20, 18, 16);

  public static final PrmField NO_SQ = new PrmField(0x20, 15, 15);

  public static final PrmField LOG_SQ_SIZE = new PrmField(0x20, 14, 11);

  public static final PrmField UAR_PAGE = new PrmField(0x24, 23, 0);

  /** 0: doorbells come with a doorbell record. */
  public static final PrmField SEND_DBR_MODE = new PrmField(0x28, 31, 30);

  public static final PrmField USER_INDEX = new PrmField(0x28, 23, 0);

  public static final PrmField REMOTE_QPN = new PrmField(0x2c, 23, 0);

  public static final PrmField RLID = new PrmField(0x34, 15, 0);

  public static final PrmField ACK_TIMEOUT = new PrmField(0x38, 31, 27);

  public static final PrmField SRC_ADDR_INDEX = new PrmField(0x38, 23, 16);

  public static final PrmField HOP_LIMIT = new PrmField(0x38, 7, 0);

  public static final PrmField TCLASS = new PrmField(0x3c, 27, 20);

  public static final int RGID_HIGH_OFFSET = 0x40;

  public static final int RGID_LOW_OFFSET = 0x48;

  public static final PrmField DSCP = new PrmField(0x50, 21, 16);

  public static final PrmField UDP_SPORT = new PrmField(0x50, 15, 0);

  public static final PrmField PORT_NUM = new PrmField(0x54, 23, 16);

  public static final PrmField RMAC_47_32 = new PrmField(0x54, 15, 0);

  public static final PrmField RMAC_31_0 = new PrmField(0x58, 31, 0);

  public static final PrmField LOG_SRA_MAX = new PrmField(0x88, 23, 21);

  public static final PrmField RETRY_COUNT = new PrmField(0x88, 18, 16);

  public static final PrmField RNR_RETRY = new PrmField(0x88, 15, 13);

  public static final PrmField NEXT_SEND_PSN = new PrmField(0x90, 23, 0);

  public static final PrmField CQN_SND = new PrmField(0x94, 23, 0);

  public static final PrmField LOG_RRA_MAX = new PrmField(0xa8, 23, 21);

  public static final PrmField ATOMIC_MODE = new PrmField(0xa8, 19, 16);

  /** Remote READs, remote WRITEs and remote atomics are allowed: bits 2, 1 and 0. */
  public static final PrmField REMOTE_ACCESS = new PrmField(0xa8, 15, 13);

  public static final PrmField RRE = new PrmField(0xa8, 15, 15);

  public static final PrmField RWE = new PrmField(0xa8, 14, 14);

  public static final PrmField RAE = new PrmField(0xa8, 13, 13);

  public static final PrmField MIN_RNR_NAK = new PrmField(0xac, 28, 24);

  public static final PrmField NEXT_RCV_PSN = new PrmField(0xac, 23, 0);

  public static final PrmField CQN_RCV = new PrmField(0xb4, 23, 0);

  public static final int DBR_ADDR_OFFSET = 0xb8;

  public static final PrmField Q_KEY = new PrmField(0xc0, 31, 0);

  public static final PrmField RQ_TYPE = new PrmField(0xc4, 26, 24);

  public static final PrmField SRQN_RMPN = new PrmField(0xc4, 23, 0);

  public static final PrmField RMSN = new PrmField(0xc8, 23, 0);

  public static final PrmField DBR_UMEM_VALID = new PrmField(0xe8, 28, 28);

  public static final PrmField DBR_UMEM_ID = new PrmField(0xfc, 31, 0);

  public static final int WQ_UMEM_OFFSET_OFFSET = 0x100;

  public static final PrmField WQ_UMEM_ID = new PrmField(0x108, 31, 0);

  public static final PrmField WQ_UMEM_VALID = new PrmField(0x10c, 31, 31);

  /** Bytes up to the end of the context. */
  public static final int BYTES = 0x100;

  public static final int RC = 0;

  public static final int UC = 1;

  public static final int UD = 3;

  public static final int DCI = 5;

  public static final int SHARED_RECEIVES = 1;

  public static final int ZERO_SIZE_RECEIVES = 2;

  public static final int NO_RECEIVES = 3;

  /** Value of PM_STATE ({@code MLX5_QP_PM_MIGRATED}). */
  public static final int MIGRATED = 3;

  /** Bit of OPT_PARAM_MASK ({@code MLX5_QP_OPTPAR_Q_KEY}). */
  public static final int OPTPAR_Q_KEY = 1 << 5;

  protected QueuePairContext() {}
}
