package dev.doorbell.core.mlx5;

import dev.doorbell.core.memory.BigEndian;

/**
 * A piece of local memory, to gather from or to scatter to: {@code struct mlx5_wqe_data_seg} of
 * rdma-core providers/mlx5/mlx5dv.h. Big-endian.
 *
 * <pre>
 *   31 30                                                           0
 *  +--+-------------------------------------------------------------+
 *  | I|                        byte_count                           |  0
 *  +--+-------------------------------------------------------------+
 *  |                             lkey                               |  4
 *  +----------------------------------------------------------------+
 *  |                                                                |  8
 *  +                             addr                               +
 *  |                                                                | 12
 *  +----------------------------------------------------------------+
 * </pre>
 *
 * <p>I set: it is an {@link InlineSegment} instead.
 */
public final class DataSegment {
  /** Bytes of the segment. */
  public static final int BYTES = 16;

  /** {@code byte_count}. */
  public static final int BYTE_COUNT_OFFSET = 0;

  /** {@code lkey}. */
  public static final int LKEY_OFFSET = 4;

  /** {@code addr}. */
  public static final int ADDRESS_OFFSET = 8;

  /** The usable bits of {@code byte_count}. */
  public static final int BYTE_COUNT_MASK = 0x7fff_ffff;

  /** Ends a short scatter list ({@code MLX5_INVALID_LKEY} of providers/mlx5/mlx5.h). */
  public static final int INVALID_LKEY = 0x100;

  private DataSegment() {}

  /** True when the bytes stand in the WQE: read it as {@link InlineSegment}. */
  public static boolean isInline(long address) {
    return BigEndian.getInt(address + BYTE_COUNT_OFFSET) < 0;
  }

  /** How many bytes, 31 bits. */
  public static int byteCount(long address) {
    return BigEndian.getInt(address + BYTE_COUNT_OFFSET) & BYTE_COUNT_MASK;
  }

  /** The key of the region. */
  public static int lkey(long address) {
    return BigEndian.getInt(address + LKEY_OFFSET);
  }

  /** The first byte's address. */
  public static long address(long address) {
    return BigEndian.getLong(address + ADDRESS_OFFSET);
  }

  /** Writes all 16 bytes. */
  public static void write(long address, int byteCount, int lkey, long localAddress) {
    BigEndian.putLong(
        address + BYTE_COUNT_OFFSET,
        (long) (byteCount & BYTE_COUNT_MASK) << 32 | (lkey & 0xffffffffL));
    BigEndian.putLong(address + ADDRESS_OFFSET, localAddress);
  }
}
