package dev.doorbell.core.mlx5.prm;

import static dev.doorbell.core.mlx5.prm.PrmField.bits;
import static dev.doorbell.core.mlx5.prm.PrmField.word;

/**
 * Fields of the answer of QUERY_ROCE_ADDRESS: an entry of the port's address table. Names that end
 * in {@code _OFFSET} are places of 8-byte fields.
 */
public final class RoceAddress {
  /** {@code roce_address_index} of the command: the index in the GID table. */
  public static final PrmField INDEX = bits(0x08, 31, 16);

  public static final int GID_HIGH_OFFSET = 0x10;
  public static final int GID_LOW_OFFSET = 0x18;
  public static final PrmField MAC_47_32 = bits(0x20, 15, 0);
  public static final PrmField MAC_31_0 = word(0x24);

  /** 0: IPv4, 1: IPv6. */
  public static final PrmField L3_TYPE = bits(0x28, 11, 8);

  /** 2: RoCE v2. */
  public static final PrmField VERSION = bits(0x28, 7, 0);

  private RoceAddress() {}
}
