package dev.doorbell.core.mlx5.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * The operands of ATOMIC_MASKED_FA on 8 bytes: {@code struct mlx5_wqe_masked_atomic_seg} of wqe.h.
 * Big-endian.
 *
 * <p>Written by FormatsTest from src/main/formats/mlx5.txt.
 */
@Generated("FormatsTest")
public class MaskedAdd8 {
  /** Bytes of the structure. */
  public static final int BYTES = 16;

  public static final int ADD_OFFSET = 0x00;

  public static final int BOUNDARY_OFFSET = 0x08;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 63 0 add|
8 63 0 field boundary|
""";

  protected MaskedAdd8() {}

  /** The addend. */
  public static long add(long at) {
    return BigEndian.getLong(at);
  }

  /** Bits out of which nothing is carried. */
  public static long boundary(long at) {
    return BigEndian.getLong(at + 0x08);
  }

  /** Writes all 16 bytes. */
  public static void write(long at, long add, long boundary) {
    BigEndian.putLong(at, add);
    BigEndian.putLong(at + 0x08, boundary);
  }

  /** Shows the fields in one line. */
  public static String line(long at) {
    return "add=0x%x boundary=0x%x".formatted(add(at), boundary(at));
  }
}
