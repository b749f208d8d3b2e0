package dev.doorbell.core.mlx5.prm;

import static dev.doorbell.core.mlx5.prm.PrmField.bit;
import static dev.doorbell.core.mlx5.prm.PrmField.bits;
import static dev.doorbell.core.mlx5.prm.PrmField.word;

/**
 * Fields of CREATE_RMP and MODIFY_RMP. The context (RMPC) begins at byte 0x20, the work queue in it
 * at 0x50. Names that end in {@code _OFFSET} are places of 8-byte fields.
 */
public final class SharedReceiveContext {
  private static final int RMPC = 0x20;
  private static final int WQ = RMPC + 0x30;

  // MODIFY_RMP alone: the state now, and which fields to take.
  public static final PrmField CURRENT_STATE = bits(0x8, 31, 28);
  public static final PrmField MODIFY_LWM = bit(0x14, 0);

  public static final PrmField STATE = bits(RMPC, 23, 20);
  public static final PrmField WQ_TYPE = bits(WQ, 31, 28);

  /** The limit below which the device raises an event; 0 for none. */
  public static final PrmField LWM = bits(WQ + 0x4, 15, 0);

  public static final PrmField PD = bits(WQ + 0x8, 23, 0);
  public static final int DBR_ADDR_OFFSET = WQ + 0x10;
  public static final PrmField LOG_WQ_STRIDE = bits(WQ + 0x20, 19, 16);
  public static final PrmField LOG_WQ_SIZE = bits(WQ + 0x20, 4, 0);
  public static final PrmField DBR_UMEM_VALID = bit(WQ + 0x24, 31);
  public static final PrmField WQ_UMEM_VALID = bit(WQ + 0x24, 30);
  public static final PrmField DBR_UMEM_ID = word(WQ + 0x28);
  public static final PrmField WQ_UMEM_ID = word(WQ + 0x2c);
  public static final int WQ_UMEM_OFFSET_OFFSET = WQ + 0x30;

  /** Value of STATE. */
  public static final int READY = 1;

  // Values of WQ_TYPE: each WQE names the next one; WQEs follow each other in the ring.
  public static final int LINKED_LIST = 0;
  public static final int CYCLIC = 1;

  private SharedReceiveContext() {}
}
