package dev.doorbell.core.mlx5.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * A piece of local memory, to gather from or to scatter to: {@code struct mlx5_wqe_data_seg}.
 * Big-endian.
 *
 * <p>Written by FormatsTest from src/main/formats/mlx5.txt.
 */
@Generated("FormatsTest")
public class DataSegment {
  /** Bytes of the structure. */
  public static final int BYTES = 16;

  public static final int BYTE_COUNT_OFFSET = 0x00;

  public static final int LKEY_OFFSET = 0x04;

  public static final int ADDRESS_OFFSET = 0x08;

  /** The usable bits of {@code byte_count}. */
  public static final int BYTE_COUNT_MASK = 0x7fff_ffff;

  /** Ends a short scatter list ({@code MLX5_INVALID_LKEY} of providers/mlx5/mlx5.h). */
  public static final int INVALID_LKEY = 0x100;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 31 31 inline|
0 30 0 byte_count|
4 31 8 lkey: index|
4 7 0 lkey: tag|
8 63 0 addr|
""";

  protected DataSegment() {}

  /** True when the bytes stand in the WQE: it is an {@code InlineSegment}. */
  public static boolean isInline(long at) {
    return (BigEndian.getInt(at) >>> 31 & 1) != 0;
  }

  /** Bytes of the piece, 31 bits. */
  public static int byteCount(long at) {
    return BigEndian.getInt(at) & 0x7fffffff;
  }

  /** The key of the region. */
  public static int lkey(long at) {
    return BigEndian.getInt(at + 0x04);
  }

  /** The first byte's address. */
  public static long address(long at) {
    return BigEndian.getLong(at + 0x08);
  }

  /** Writes all 16 bytes. */
  public static void write(long at, int byteCount, int lkey, long address) {
    BigEndian.putLong(at, (byteCount & 0x7fffffffL) << 32 | (lkey & 0xffffffffL));
    BigEndian.putLong(at + 0x08, address);
  }

  /** Shows the fields in one line. */
  public static String line(long at) {
    return "data=%d@0x%x lkey=0x%08x".formatted(byteCount(at), address(at), lkey(at));
  }
}
