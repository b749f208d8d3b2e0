package dev.doorbell.core.mlx5.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * The header of an inline segment: {@code struct mlx5_wqe_inline_seg} (rdma-core
 * providers/mlx5/wqe.h).
 *
 * <p>Written by FormatsTest from src/main/formats/mlx5.txt.
 */
@Generated("FormatsTest")
public class InlineFields {
  /** Bytes of the structure. */
  public static final int BYTES = 4;

  public static final int BYTE_COUNT_OFFSET = 0x00;

  /** The first payload byte. */
  public static final int DATA_OFFSET = 4;

  /** Distinguishes it from a {@code DataSegment} ({@code MLX5_INLINE_SEG}). */
  public static final int INLINE = 0x8000_0000;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 31 31 inline|the bytes follow
0 30 0 byte_count|
""";

  protected InlineFields() {}

  /** Payload bytes. */
  public static int byteCount(long at) {
    return BigEndian.getInt(at) & 0x7fffffff;
  }
}
