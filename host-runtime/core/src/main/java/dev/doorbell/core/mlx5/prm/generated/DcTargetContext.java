package dev.doorbell.core.mlx5.prm.generated;

import dev.doorbell.core.mlx5.prm.PrmField;
import javax.annotation.processing.Generated;

/**
 * Fields of CREATE_DCT and of the answer of QUERY_DCT. The context (DCTC) begins at byte 0x10 in
 * both ({@code dctc_bits} of UCX's ib_mlx5_ifc.h and of Linux's mlx5_ifc.h). Names that end in
 * {@code _OFFSET} are places of 8-byte fields.
 *
 * <p>Written by FormatsTest from src/main/formats/prm.txt.
 */
@Generated("FormatsTest")
public class DcTargetContext {
  public static final PrmField STATE = new PrmField(0x10, 27, 24);

  public static final PrmField OFFLOAD_TYPE = new PrmField(0x10, 7, 4);

  public static final PrmField USER_INDEX = new PrmField(0x14, 23, 0);

  public static final PrmField CQN = new PrmField(0x18, 23, 0);

  public static final PrmField ATOMIC_MODE = new PrmField(0x1c, 23, 20);

  public static final PrmField RRE = new PrmField(0x1c, 19, 19);

  public static final PrmField RWE = new PrmField(0x1c, 18, 18);

  public static final PrmField RAE = new PrmField(0x1c, 17, 17);

  public static final PrmField MIN_RNR_NAK = new PrmField(0x20, 12, 8);

  public static final PrmField SRQN = new PrmField(0x24, 23, 0);

  public static final PrmField PD = new PrmField(0x28, 23, 0);

  public static final int ACCESS_KEY_OFFSET = 0x30;

  public static final PrmField MTU = new PrmField(0x38, 26, 24);

  public static final PrmField PORT = new PrmField(0x38, 23, 16);

  public static final PrmField ADDRESS_INDEX = new PrmField(0x3c, 23, 16);

  public static final PrmField HOP_LIMIT = new PrmField(0x3c, 7, 0);

  /** Requests that came with another access key. */
  public static final PrmField KEY_VIOLATIONS = new PrmField(0x40, 31, 0);

  /** Bytes of CREATE_DCT. */
  public static final int BYTES = 0x80;

  /** Bytes up to the end of the context. */
  public static final int ANSWER_BYTES = 0x80;

  /** Values of STATE ({@code MLX5_DCTC_STATE_*}). */
  public static final int ACTIVE = 0;

  public static final int DRAINING = 1;

  public static final int DRAINED = 2;

  protected DcTargetContext() {}
}
