package dev.doorbell.core.mlx5.prm.generated;

import dev.doorbell.core.mlx5.prm.PrmField;
import javax.annotation.processing.Generated;

/**
 * Fields of CREATE_RMP and MODIFY_RMP. The context (RMPC) begins at byte 0x20, the work queue in it
 * at 0x50. Names that end in {@code _OFFSET} are places of 8-byte fields.
 *
 * <p>Written by FormatsTest from src/main/formats/prm.txt.
 */
@Generated("FormatsTest")
public class SharedReceiveContext {
  public static final PrmField CURRENT_STATE = new PrmField(0x8, 31, 28);

  public static final PrmField MODIFY_LWM = new PrmField(0x14, 0, 0);

  public static final PrmField STATE = new PrmField(0x20, 23, 20);

  public static final PrmField WQ_TYPE = new PrmField(0x50, 31, 28);

  /** The limit below which the device raises an event; 0 for none. */
  public static final PrmField LWM = new PrmField(0x54, 15, 0);

  public static final PrmField PD = new PrmField(0x58, 23, 0);

  public static final int DBR_ADDR_OFFSET = 0x60;

  public static final PrmField LOG_WQ_STRIDE = new PrmField(0x70, 19, 16);

  public static final PrmField LOG_WQ_SIZE = new PrmField(0x70, 4, 0);

  public static final PrmField DBR_UMEM_VALID = new PrmField(0x74, 31, 31);

  public static final PrmField WQ_UMEM_VALID = new PrmField(0x74, 30, 30);

  public static final PrmField DBR_UMEM_ID = new PrmField(0x78, 31, 0);

  public static final PrmField WQ_UMEM_ID = new PrmField(0x7c, 31, 0);

  public static final int WQ_UMEM_OFFSET_OFFSET = 0x80;

  /** Value of STATE. */
  public static final int READY = 1;

  public static final int LINKED_LIST = 0;

  public static final int CYCLIC = 1;

  protected SharedReceiveContext() {}
}
