package dev.doorbell.core.mlx5.prm.generated;

import dev.doorbell.core.mlx5.prm.PrmField;
import javax.annotation.processing.Generated;

/**
 * Fields of CREATE_CQ. The context (CQC) begins at byte 0x10. Names that end in {@code _OFFSET} are
 * places of 8-byte fields.
 *
 * <p>Written by FormatsTest from src/main/formats/prm.txt.
 */
@Generated("FormatsTest")
public class CompletionQueueContext {
  public static final PrmField DBR_UMEM_VALID = new PrmField(0x10, 25, 25);

  /** 0: entries of 64 bytes; 1: of 128. */
  public static final PrmField CQE_SIZE = new PrmField(0x10, 23, 21);

  /** Every CQE goes to entry 0. */
  public static final PrmField COLLAPSED = new PrmField(0x10, 20, 20);

  public static final PrmField IGNORE_OVERRUN = new PrmField(0x10, 17, 17);

  public static final PrmField CQE_COMPRESSION = new PrmField(0x10, 14, 14);

  public static final PrmField DBR_UMEM_ID = new PrmField(0x14, 31, 0);

  public static final PrmField LOG_CQ_SIZE = new PrmField(0x1c, 28, 24);

  public static final PrmField UAR_PAGE = new PrmField(0x1c, 23, 0);

  public static final PrmField C_EQN = new PrmField(0x24, 7, 0);

  public static final int DBR_ADDR_OFFSET = 0x48;

  public static final int CQ_UMEM_OFFSET_OFFSET = 0x50;

  public static final PrmField CQ_UMEM_ID = new PrmField(0x58, 31, 0);

  public static final PrmField CQ_UMEM_VALID = new PrmField(0x5c, 31, 31);

  protected CompletionQueueContext() {}
}
