package dev.doorbell.verbs.posted;

/**
 * Offsets in {@code struct ibv_wc} (verbs.h) and the values of its enums; the immediate is
 * big-endian.
 */
public final class WorkCompletionLayout {
  public static final int BYTES = 48;
  public static final int ID_OFFSET = 0;
  public static final int STATUS_OFFSET = 8;
  public static final int OPCODE_OFFSET = 12;
  public static final int VENDOR_OFFSET = 16;
  public static final int BYTE_COUNT_OFFSET = 20;
  public static final int IMMEDIATE_OFFSET = 24;
  public static final int QPN_OFFSET = 28;
  public static final int FLAGS_OFFSET = 36;

  // enum ibv_wc_opcode
  public static final int RECEIVE = 128;
  public static final int RECEIVE_RDMA_WITH_IMM = 129;

  // enum ibv_wc_flags
  public static final int WITH_IMM = 2;

  // enum ibv_wc_status
  public static final int SUCCESS = 0;
  public static final int LOC_LEN_ERR = 1;
  public static final int LOC_QP_OP_ERR = 2;
  public static final int LOC_PROT_ERR = 4;
  public static final int WR_FLUSH_ERR = 5;
  public static final int MW_BIND_ERR = 6;
  public static final int BAD_RESP_ERR = 7;
  public static final int LOC_ACCESS_ERR = 8;
  public static final int REM_INV_REQ_ERR = 9;
  public static final int REM_ACCESS_ERR = 10;
  public static final int REM_OP_ERR = 11;
  public static final int RETRY_EXC_ERR = 12;
  public static final int RNR_RETRY_EXC_ERR = 13;
  public static final int REM_ABORT_ERR = 16;

  private WorkCompletionLayout() {}
}
