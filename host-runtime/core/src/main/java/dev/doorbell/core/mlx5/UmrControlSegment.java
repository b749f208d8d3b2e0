package dev.doorbell.core.mlx5;

import dev.doorbell.core.memory.BigEndian;

/**
 * The segment behind the control segment of {@link Opcode#UMR}: {@code struct
 * mlx5_wqe_umr_ctrl_seg} of rdma-core providers/mlx5/mlx5dv.h. Big-endian.
 *
 * <pre>
 *   31            24 23            16 15                            0
 *  +----------------+---------------------------------------------+
 *  |     flags      |                 reserved                    |  0x00
 *  +----------------+--------------+------------------------------+
 *  |         klm_octowords         |      translation_offset      |  0x04
 *  +-------------------------------+------------------------------+
 *  |                        mkey_mask                             |  0x08
 *  +                                                              +
 *  |                                                              |  0x0c
 *  +--------------------------------------------------------------+
 *  |                        reserved                             ...  0x10 to 0x2f
 *  +--------------------------------------------------------------+
 * </pre>
 */
public final class UmrControlSegment {
  /** Bytes of the segment. */
  public static final int BYTES = 48;

  /** {@code flags}. */
  public static final int FLAGS_OFFSET = 0x00;

  /** Flag: the list of memory follows in the WQE. */
  public static final int INLINE = 1 << 7;

  /** Flag: fails unless the key is free. */
  public static final int CHECK_FREE = 1 << 5;

  /** Flag: fails unless the key belongs to the queue pair. */
  public static final int CHECK_QPN = 1 << 3;

  private static final int FLAGS_SHIFT = 24;

  private UmrControlSegment() {}

  /** {@link #INLINE}, {@link #CHECK_FREE}, {@link #CHECK_QPN} and others. */
  public static int flags(long address) {
    return BigEndian.getInt(address + FLAGS_OFFSET) >>> FLAGS_SHIFT;
  }
}
