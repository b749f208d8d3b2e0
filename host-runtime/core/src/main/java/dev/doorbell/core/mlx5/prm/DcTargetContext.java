package dev.doorbell.core.mlx5.prm;

import static dev.doorbell.core.mlx5.prm.PrmField.bit;
import static dev.doorbell.core.mlx5.prm.PrmField.bits;
import static dev.doorbell.core.mlx5.prm.PrmField.word;

/**
 * Fields of CREATE_DCT and of the answer of QUERY_DCT. The context (DCTC) begins at byte 0x10 in
 * both ({@code dctc_bits} of UCX's ib_mlx5_ifc.h and of Linux's mlx5_ifc.h). Names that end in
 * {@code _OFFSET} are places of 8-byte fields.
 */
public final class DcTargetContext {
  private static final int DCTC = 0x10;

  /** Bytes of CREATE_DCT. */
  public static final int BYTES = 0x80;

  /** Bytes up to the end of the context. */
  public static final int ANSWER_BYTES = DCTC + 0x70;

  public static final PrmField STATE = bits(DCTC, 27, 24);
  public static final PrmField OFFLOAD_TYPE = bits(DCTC, 7, 4);
  public static final PrmField USER_INDEX = bits(DCTC + 0x4, 23, 0);
  public static final PrmField CQN = bits(DCTC + 0x8, 23, 0);
  public static final PrmField ATOMIC_MODE = bits(DCTC + 0xc, 23, 20);
  public static final PrmField RRE = bit(DCTC + 0xc, 19);
  public static final PrmField RWE = bit(DCTC + 0xc, 18);
  public static final PrmField RAE = bit(DCTC + 0xc, 17);
  public static final PrmField MIN_RNR_NAK = bits(DCTC + 0x10, 12, 8);
  public static final PrmField SRQN = bits(DCTC + 0x14, 23, 0);
  public static final PrmField PD = bits(DCTC + 0x18, 23, 0);
  public static final int ACCESS_KEY_OFFSET = DCTC + 0x20;
  public static final PrmField MTU = bits(DCTC + 0x28, 26, 24);
  public static final PrmField PORT = bits(DCTC + 0x28, 23, 16);
  public static final PrmField ADDRESS_INDEX = bits(DCTC + 0x2c, 23, 16);
  public static final PrmField HOP_LIMIT = bits(DCTC + 0x2c, 7, 0);

  /** Requests that came with another access key. */
  public static final PrmField KEY_VIOLATIONS = word(DCTC + 0x30);

  /** Values of STATE ({@code MLX5_DCTC_STATE_*}). */
  public static final int ACTIVE = 0;

  public static final int DRAINING = 1;
  public static final int DRAINED = 2;

  private DcTargetContext() {}
}
