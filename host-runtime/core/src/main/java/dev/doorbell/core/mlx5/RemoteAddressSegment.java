package dev.doorbell.core.mlx5;

import dev.doorbell.core.memory.BigEndian;

/**
 * Where a peer's memory is: {@code struct mlx5_wqe_raddr_seg} of rdma-core providers/mlx5/mlx5dv.h.
 * Big-endian.
 *
 * <pre>
 *   31                                                              0
 *  +----------------------------------------------------------------+
 *  |                                                                |  0
 *  +                            raddr                               +
 *  |                                                                |  4
 *  +----------------------------------------------------------------+
 *  |                             rkey                               |  8
 *  +----------------------------------------------------------------+
 *  |               reserved, any content: GPUNetIO does not write it| 12
 *  +----------------------------------------------------------------+
 * </pre>
 */
public final class RemoteAddressSegment {
  /** Bytes of the segment. */
  public static final int BYTES = 16;

  /** {@code raddr}. */
  public static final int ADDRESS_OFFSET = 0;

  /** {@code rkey}. */
  public static final int RKEY_OFFSET = 8;

  private RemoteAddressSegment() {}

  /** The address at the peer. */
  public static long address(long address) {
    return BigEndian.getLong(address + ADDRESS_OFFSET);
  }

  /** The peer's key. */
  public static int rkey(long address) {
    return BigEndian.getInt(address + RKEY_OFFSET);
  }

  /** Writes all 16 bytes, the reserved word as 0. */
  public static void write(long address, long remoteAddress, int rkey) {
    BigEndian.putLong(address + ADDRESS_OFFSET, remoteAddress);
    BigEndian.putLong(address + RKEY_OFFSET, (long) rkey << 32);
  }
}
