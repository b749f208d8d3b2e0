package dev.doorbell.core.mlx5.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * The operands of ATOMIC_CS and ATOMIC_FA: {@code struct mlx5_wqe_atomic_seg}. Big-endian.
 *
 * <p>Written by FormatsTest from src/main/formats/mlx5.txt.
 */
@Generated("FormatsTest")
public class AtomicSegment {
  /** Bytes of the structure. */
  public static final int BYTES = 16;

  public static final int SWAP_ADD_OFFSET = 0x00;

  public static final int COMPARE_OFFSET = 0x08;

  /** Bytes of the cell that the operation works on. */
  public static final int CELL_BYTES = 8;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 63 0 swap_add|
8 63 0 compare|
""";

  protected AtomicSegment() {}

  /** The value to swap in, or to add. */
  public static long swapAdd(long at) {
    return BigEndian.getLong(at);
  }

  /** The value to compare with; reserved for fetch-add. */
  public static long compare(long at) {
    return BigEndian.getLong(at + 0x08);
  }

  /** Writes all 16 bytes. */
  public static void write(long at, long swapAdd, long compare) {
    BigEndian.putLong(at, swapAdd);
    BigEndian.putLong(at + 0x08, compare);
  }

  /** Shows the fields in one line. */
  public static String line(long at) {
    return "swap_add=0x%x compare=0x%x".formatted(swapAdd(at), compare(at));
  }
}
