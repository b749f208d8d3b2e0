package dev.doorbell.core.mlx5.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * The operands of ATOMIC_MASKED_FA on 4 bytes ({@code ibgda_device.cuh} of nvshmem). Big-endian. A
 * set bit of the boundary stops the carry out of that bit: 0 is a plain addition, all ones an
 * exclusive or.
 *
 * <p>Written by FormatsTest from src/main/formats/mlx5.txt.
 */
@Generated("FormatsTest")
public class MaskedAdd4 {
  /** Bytes of the structure. */
  public static final int BYTES = 16;

  public static final int ADD_OFFSET = 0x00;

  public static final int BOUNDARY_OFFSET = 0x04;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 31 0 add|
4 31 0 field boundary|no carry out of these bits
8 -1 8 reserved|
""";

  protected MaskedAdd4() {}

  /** The addend. */
  public static int add(long at) {
    return BigEndian.getInt(at);
  }

  /** Bits out of which nothing is carried. */
  public static int boundary(long at) {
    return BigEndian.getInt(at + 0x04);
  }

  /** Writes all 16 bytes. */
  public static void write(long at, int add, int boundary) {
    BigEndian.putLong(at, (long) add << 32 | (boundary & 0xffffffffL));
    BigEndian.putLong(at + 0x08, 0);
  }

  /** Shows the fields in one line. */
  public static String line(long at) {
    return "add=0x%x boundary=0x%x".formatted(add(at), boundary(at));
  }
}
