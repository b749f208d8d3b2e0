package dev.doorbell.core.mlx5.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * The operands of ATOMIC_MASKED_CS on 8 bytes. Big-endian.
 *
 * <p>Written by FormatsTest from src/main/formats/mlx5.txt.
 */
@Generated("FormatsTest")
public class MaskedSwap8 {
  /** Bytes of the structure. */
  public static final int BYTES = 32;

  public static final int SWAP_OFFSET = 0x00;

  public static final int COMPARE_OFFSET = 0x08;

  public static final int SWAP_MASK_OFFSET = 0x10;

  public static final int COMPARE_MASK_OFFSET = 0x18;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 63 0 swap|
8 63 0 compare|
16 63 0 swap mask|
24 63 0 compare mask|
""";

  protected MaskedSwap8() {}

  /** The new bits. */
  public static long swap(long at) {
    return BigEndian.getLong(at);
  }

  /** The expected bits. */
  public static long compare(long at) {
    return BigEndian.getLong(at + 0x08);
  }

  /** The bits that are replaced. */
  public static long swapMask(long at) {
    return BigEndian.getLong(at + 0x10);
  }

  /** The bits that are compared. */
  public static long compareMask(long at) {
    return BigEndian.getLong(at + 0x18);
  }

  /** Writes all 32 bytes. */
  public static void write(long at, long swap, long compare, long swapMask, long compareMask) {
    BigEndian.putLong(at, swap);
    BigEndian.putLong(at + 0x08, compare);
    BigEndian.putLong(at + 0x10, swapMask);
    BigEndian.putLong(at + 0x18, compareMask);
  }

  /** Shows the fields in one line. */
  public static String line(long at) {
    return "swap=0x%x compare=0x%x swap_mask=0x%x compare_mask=0x%x"
        .formatted(swap(at), compare(at), swapMask(at), compareMask(at));
  }
}
