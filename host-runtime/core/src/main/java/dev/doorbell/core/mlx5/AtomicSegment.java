package dev.doorbell.core.mlx5;

import dev.doorbell.core.memory.BigEndian;

/**
 * The operands of {@link Opcode#ATOMIC_CS} and {@link Opcode#ATOMIC_FA}: {@code struct
 * mlx5_wqe_atomic_seg} of rdma-core providers/mlx5/mlx5dv.h. Big-endian.
 *
 * <pre>
 *   63                                                              0
 *  +----------------------------------------------------------------+
 *  |                           swap_add                             |  0
 *  +----------------------------------------------------------------+
 *  |        compare; for fetch-add reserved, any content            |  8
 *  +----------------------------------------------------------------+
 * </pre>
 */
public final class AtomicSegment {
  /** Bytes of the segment. */
  public static final int BYTES = 16;

  /** Bytes of the cell that the operation works on. */
  public static final int CELL_BYTES = 8;

  /** {@code swap_add}. */
  public static final int SWAP_ADD_OFFSET = 0;

  /** {@code compare}. */
  public static final int COMPARE_OFFSET = 8;

  private AtomicSegment() {}

  /** The value to swap in, or to add. */
  public static long swapAdd(long address) {
    return BigEndian.getLong(address + SWAP_ADD_OFFSET);
  }

  /** The value to compare with. */
  public static long compare(long address) {
    return BigEndian.getLong(address + COMPARE_OFFSET);
  }

  /** Writes all 16 bytes. */
  public static void write(long address, long swapAdd, long compare) {
    BigEndian.putLong(address + SWAP_ADD_OFFSET, swapAdd);
    BigEndian.putLong(address + COMPARE_OFFSET, compare);
  }
}
