package dev.doorbell.core.mlx5.prm.generated;

import dev.doorbell.core.mlx5.prm.PrmField;
import javax.annotation.processing.Generated;

/**
 * Fields of the answer of QUERY_ROCE_ADDRESS: an entry of the port's address table. Names that end
 * in {@code _OFFSET} are places of 8-byte fields.
 *
 * <p>Written by FormatsTest from src/main/formats/prm.txt.
 */
@Generated("FormatsTest")
public class RoceAddress {
  /** {@code roce_address_index} of the command: the index in the GID table. */
  public static final PrmField INDEX = new PrmField(0x8, 31, 16);

  public static final int GID_HIGH_OFFSET = 0x10;

  public static final int GID_LOW_OFFSET = 0x18;

  public static final PrmField MAC_47_32 = new PrmField(0x20, 15, 0);

  public static final PrmField MAC_31_0 = new PrmField(0x24, 31, 0);

  /** 0: IPv4, 1: IPv6. */
  public static final PrmField L3_TYPE = new PrmField(0x28, 11, 8);

  /** 2: RoCE v2. */
  public static final PrmField VERSION = new PrmField(0x28, 7, 0);

  protected RoceAddress() {}
}
