package dev.doorbell.core.roce.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * The extended transport header of Doorbell's masked atomics: an {@link AtomicEth} with two masks
 * behind it. The wire format of mlx5's masked atomics is not published, so these packets, with
 * opcodes of the manufacturer-specific range, are understood between software HCAs alone.
 *
 * <p>Written by FormatsTest from src/main/formats/roce.txt.
 */
@Generated("FormatsTest")
public class MaskedAtomicEth {
  /** Bytes of the structure. */
  public static final int BYTES = 44;

  public static final int SWAP_MASK_OFFSET = 0x1c;

  public static final int COMPARE_MASK_OFFSET = 0x24;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
28 63 0 swap mask|
36 63 0 compare mask|
""";

  protected MaskedAtomicEth() {}

  /** Swap mask, or field boundaries of an add. */
  public static long swapMask(long at) {
    return BigEndian.getLong(at + 0x1c);
  }

  /** Compare mask. */
  public static long compareMask(long at) {
    return BigEndian.getLong(at + 0x24);
  }

  /** Writes the two masks; {@link AtomicEth#write} writes the rest. */
  public static void writeMasks(long at, long swapMask, long compareMask) {
    BigEndian.putLong(at + 0x1c, swapMask);
    BigEndian.putLong(at + 0x24, compareMask);
  }

  /** Shows the fields in one line. */
  public static String line(long at) {
    return "swap_mask=0x%x compare_mask=0x%x".formatted(swapMask(at), compareMask(at));
  }
}
