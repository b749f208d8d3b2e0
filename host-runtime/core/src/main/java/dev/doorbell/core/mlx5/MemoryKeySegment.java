package dev.doorbell.core.mlx5;

import dev.doorbell.core.memory.BigEndian;

/**
 * The memory key that {@link Opcode#UMR} changes: {@code struct mlx5_wqe_mkey_context_seg} of
 * rdma-core providers/mlx5/mlx5dv.h. Big-endian.
 *
 * <pre>
 *   31            24 23            16 15             8 7            0
 *  +----------------+----------------+----------------+--------------+
 *  | . free ......  |    reserved    |  access_flags  |      sf      |  0x00
 *  +----------------+----------------+----------------+--------------+
 *  |               QPN, or 0xffffff for any           |   mkey 7:0   |  0x04
 *  +-------------------------------------------------+---------------+
 *  |                       reserved, flags_pd                       ...  0x08, 0x0c
 *  +-----------------------------------------------------------------+
 *  |                       start_addr                                |  0x10
 *  +-----------------------------------------------------------------+
 *  |                       len                                       |  0x18
 *  +-----------------------------------------------------------------+
 *  |                       not used here                            ...  0x20 to 0x3f
 *  +-----------------------------------------------------------------+
 * </pre>
 */
public final class MemoryKeySegment {
  /** Bytes of the segment. */
  public static final int BYTES = 64;

  /** The word that holds {@code free} and {@code access_flags}. */
  public static final int ACCESS_OFFSET = 0x00;

  /** {@code qpn_mkey}. */
  public static final int NUMBER_OFFSET = 0x04;

  /** {@code start_addr}. */
  public static final int ADDRESS_OFFSET = 0x10;

  /** {@code len}. */
  public static final int LENGTH_OFFSET = 0x18;

  // MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_*
  public static final int REMOTE_READ = 1 << 4;
  public static final int REMOTE_WRITE = 1 << 5;
  public static final int ATOMIC = 1 << 6;

  /** The queue pair number of a key that all queue pairs of its domain may use. */
  public static final int ANY_QUEUE_PAIR = 0xff_ffff;

  private static final int FREE = 1 << 30;
  private static final int ACCESS_SHIFT = 8;
  private static final int BYTE = 0xff;

  private MemoryKeySegment() {}

  /** True when the key names nothing from now on. */
  public static boolean isFree(long address) {
    return (BigEndian.getInt(address + ACCESS_OFFSET) & FREE) != 0;
  }

  /** {@link #REMOTE_READ}, {@link #REMOTE_WRITE}, {@link #ATOMIC}, and local rights. */
  public static int access(long address) {
    return BigEndian.getInt(address + ACCESS_OFFSET) >>> ACCESS_SHIFT & BYTE;
  }

  /** The queue pair that may use the key, or {@link #ANY_QUEUE_PAIR}. */
  public static int queuePair(long address) {
    return BigEndian.getInt(address + NUMBER_OFFSET) >>> Byte.SIZE;
  }

  /** The lowest 8 bits of the key. */
  public static int variant(long address) {
    return BigEndian.getInt(address + NUMBER_OFFSET) & BYTE;
  }

  /** The address by which work requests name the first byte. */
  public static long startAddress(long address) {
    return BigEndian.getLong(address + ADDRESS_OFFSET);
  }

  public static long length(long address) {
    return BigEndian.getLong(address + LENGTH_OFFSET);
  }
}
