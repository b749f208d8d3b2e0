package dev.doorbell.core.roce;

import dev.doorbell.core.memory.BigEndian;

/**
 * The extended transport header of Doorbell's masked atomics: an {@link AtomicEth} with two masks
 * behind it. What mlx5 puts on the wire for them is not published, so these packets, with opcodes
 * of the manufacturer-specific range, are understood between software HCAs alone.
 *
 * <pre>
 *   31                                                              0
 *  +----------------------------------------------------------------+
 *  | as AtomicETH                                                   |  0
 *  +----------------------------------------------------------------+
 *  | swap mask, or field boundaries of an add, 8 bytes              | 28
 *  +----------------------------------------------------------------+
 *  | compare mask, 8 bytes                                          | 36
 *  +----------------------------------------------------------------+
 * </pre>
 */
public final class MaskedAtomicEth {
  /** Bytes of the header. */
  public static final int BYTES = 44;

  public static final int SWAP_MASK_OFFSET = 28;
  public static final int COMPARE_MASK_OFFSET = 36;

  private MaskedAtomicEth() {}

  public static long swapMask(long address) {
    return BigEndian.getLong(address + SWAP_MASK_OFFSET);
  }

  public static long compareMask(long address) {
    return BigEndian.getLong(address + COMPARE_MASK_OFFSET);
  }

  /** Writes the two masks; {@link AtomicEth#write} writes the rest. */
  public static void writeMasks(long address, long swapMask, long compareMask) {
    BigEndian.putLong(address + SWAP_MASK_OFFSET, swapMask);
    BigEndian.putLong(address + COMPARE_MASK_OFFSET, compareMask);
  }
}
