package dev.doorbell.core.mlx5;

import dev.doorbell.core.memory.BigEndian;

/**
 * The segment of a request on an extended reliable connection: {@code struct mlx5_wqe_xrc_seg} of
 * rdma-core providers/mlx5/mlx5dv.h. Big-endian; follows the control segment.
 *
 * <pre>
 *   31            24 23                                            0
 *  +----------------+------------------------------------------------+
 *  |    reserved    |        shared receive queue of the peer        |  0x00
 *  +----------------+------------------------------------------------+
 *  |                      reserved: 12 bytes                         |  0x04
 *  +-----------------------------------------------------------------+
 * </pre>
 */
public final class XrcSegment {
  /** Bytes of the segment. */
  public static final int BYTES = 16;

  private static final int NUMBER_MASK = 0xff_ffff;

  private XrcSegment() {}

  /** The 24-bit number of the peer's shared receive queue. */
  public static int sharedQueue(long address) {
    return BigEndian.getInt(address) & NUMBER_MASK;
  }

  /** Writes all 16 bytes. */
  public static void write(long address, int sharedQueue) {
    BigEndian.putLong(address, (long) (sharedQueue & NUMBER_MASK) << 32);
    BigEndian.putLong(address + Long.BYTES, 0);
  }
}
