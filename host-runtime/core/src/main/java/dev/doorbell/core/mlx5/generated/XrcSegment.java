package dev.doorbell.core.mlx5.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * The segment of a request on an extended reliable connection: {@code struct mlx5_wqe_xrc_seg}.
 * Big-endian; follows the control segment.
 *
 * <p>Written by FormatsTest from src/main/formats/mlx5.txt.
 */
@Generated("FormatsTest")
public class XrcSegment {
  /** Bytes of the structure. */
  public static final int BYTES = 16;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 23 0 srqn|
4 -1 12 reserved|
""";

  protected XrcSegment() {}

  /** The 24-bit number of the peer's shared receive queue. */
  public static int sharedQueue(long at) {
    return BigEndian.getInt(at) & 0xffffff;
  }

  /** Writes all 16 bytes. */
  public static void write(long at, int sharedQueue) {
    BigEndian.putLong(at, (sharedQueue & 0xffffffL) << 32);
    BigEndian.putLong(at + 0x08, 0);
  }

  /** Shows the fields in one line. */
  public static String line(long at) {
    return "srqn=0x%06x".formatted(sharedQueue(at));
  }
}
