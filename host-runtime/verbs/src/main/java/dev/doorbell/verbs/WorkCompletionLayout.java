package dev.doorbell.verbs;

/**
 * Places in {@code struct ibv_wc} (verbs.h) and the values of its enums; the immediate is
 * big-endian.
 */
final class WorkCompletionLayout {
  static final int BYTES = 48;
  static final int ID_OFFSET = 0;
  static final int STATUS_OFFSET = 8;
  static final int OPCODE_OFFSET = 12;
  static final int VENDOR_OFFSET = 16;
  static final int BYTE_COUNT_OFFSET = 20;
  static final int IMMEDIATE_OFFSET = 24;
  static final int QPN_OFFSET = 28;
  static final int FLAGS_OFFSET = 36;

  // enum ibv_wc_opcode
  static final int RECEIVE = 128;
  static final int RECEIVE_RDMA_WITH_IMM = 129;

  // enum ibv_wc_flags
  static final int WITH_IMM = 2;

  // enum ibv_wc_status
  static final int SUCCESS = 0;
  static final int LOC_LEN_ERR = 1;
  static final int LOC_QP_OP_ERR = 2;
  static final int LOC_PROT_ERR = 4;
  static final int WR_FLUSH_ERR = 5;
  static final int MW_BIND_ERR = 6;
  static final int BAD_RESP_ERR = 7;
  static final int LOC_ACCESS_ERR = 8;
  static final int REM_INV_REQ_ERR = 9;
  static final int REM_ACCESS_ERR = 10;
  static final int REM_OP_ERR = 11;
  static final int RETRY_EXC_ERR = 12;
  static final int RNR_RETRY_EXC_ERR = 13;
  static final int REM_ABORT_ERR = 16;

  private WorkCompletionLayout() {}
}
