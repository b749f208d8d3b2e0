package dev.doorbell.core.mlx5.prm;

import static dev.doorbell.core.mlx5.prm.PrmField.bit;
import static dev.doorbell.core.mlx5.prm.PrmField.bits;
import static dev.doorbell.core.mlx5.prm.PrmField.word;

/**
 * Fields of CREATE_CQ. The context (CQC) begins at byte 0x10. Names that end in {@code _OFFSET} are
 * places of 8-byte fields.
 */
public final class CompletionQueueContext {
  private static final int CQC = 0x10;

  public static final PrmField DBR_UMEM_VALID = bit(CQC, 25);

  /** 0: entries of 64 bytes; 1: of 128. */
  public static final PrmField CQE_SIZE = bits(CQC, 23, 21);

  /** Every CQE goes to entry 0. */
  public static final PrmField COLLAPSED = bit(CQC, 20);

  public static final PrmField IGNORE_OVERRUN = bit(CQC, 17);
  public static final PrmField CQE_COMPRESSION = bit(CQC, 14);
  public static final PrmField DBR_UMEM_ID = word(CQC + 0x4);
  public static final PrmField LOG_CQ_SIZE = bits(CQC + 0xc, 28, 24);
  public static final PrmField UAR_PAGE = bits(CQC + 0xc, 23, 0);
  public static final PrmField C_EQN = bits(CQC + 0x14, 7, 0);
  public static final int DBR_ADDR_OFFSET = CQC + 0x38;

  // Behind the context.
  public static final int CQ_UMEM_OFFSET_OFFSET = 0x50;
  public static final PrmField CQ_UMEM_ID = word(0x58);
  public static final PrmField CQ_UMEM_VALID = bit(0x5c, 31);

  private CompletionQueueContext() {}
}
