package dev.doorbell.core.mlx5.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * The operands of ATOMIC_MASKED_CS on 4 bytes. Big-endian.
 *
 * <p>Written by FormatsTest from src/main/formats/mlx5.txt.
 */
@Generated("FormatsTest")
public class MaskedSwap4 {
  /** Bytes of the structure. */
  public static final int BYTES = 16;

  public static final int SWAP_OFFSET = 0x00;

  public static final int COMPARE_OFFSET = 0x04;

  public static final int SWAP_MASK_OFFSET = 0x08;

  public static final int COMPARE_MASK_OFFSET = 0x0c;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 31 0 swap|
4 31 0 compare|
8 31 0 swap mask|these bits are replaced
12 31 0 compare mask|these bits are compared
""";

  protected MaskedSwap4() {}

  /** The new bits. */
  public static int swap(long at) {
    return BigEndian.getInt(at);
  }

  /** The expected bits. */
  public static int compare(long at) {
    return BigEndian.getInt(at + 0x04);
  }

  /** The bits that are replaced. */
  public static int swapMask(long at) {
    return BigEndian.getInt(at + 0x08);
  }

  /** The bits that are compared. */
  public static int compareMask(long at) {
    return BigEndian.getInt(at + 0x0c);
  }

  /** Writes all 16 bytes. */
  public static void write(long at, int swap, int compare, int swapMask, int compareMask) {
    BigEndian.putLong(at, (long) swap << 32 | (compare & 0xffffffffL));
    BigEndian.putLong(at + 0x08, (long) swapMask << 32 | (compareMask & 0xffffffffL));
  }

  /** Shows the fields in one line. */
  public static String line(long at) {
    return "swap=0x%x compare=0x%x swap_mask=0x%x compare_mask=0x%x"
        .formatted(swap(at), compare(at), swapMask(at), compareMask(at));
  }
}
