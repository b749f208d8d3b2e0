package dev.doorbell.core.mlx5;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;

/**
 * The segment that begins every WQE of a shared receive queue: {@code struct mlx5_wqe_srq_next_seg}
 * of rdma-core providers/mlx5/mlx5dv.h. Big-endian. Data segments follow, as in a {@link
 * ReceiveSegment} list.
 *
 * <pre>
 *   31                             16 15             8 7            0
 *  +---------------------------------+------------------------------+
 *  |            reserved             |        next WQE index        |  0
 *  +----------------+----------------+------------------------------+
 *  |   signature    |                  reserved                    ...  4
 *  +----------------+-----------------------------------------------+
 * </pre>
 */
public final class SharedReceiveSegment {
  /** Bytes of the segment. */
  public static final int BYTES = 16;

  /** {@code next_wqe_index}. */
  public static final int NEXT_OFFSET = 2;

  private SharedReceiveSegment() {}

  /** The address of WQE {@code index} of a ring of WQEs of {@code stride} bytes. */
  public static long wqeAddress(long ring, int stride, int index) {
    return ring + (long) index * stride;
  }

  /** The index of the WQE after this one in the list. */
  public static int next(long address) {
    return BigEndian.getShort(address + NEXT_OFFSET) & 0xffff;
  }

  /** Writes all 16 bytes. */
  public static void write(long address, int next) {
    RawMemory.putLong(address, 0);
    RawMemory.putLong(address + Long.BYTES, 0);
    BigEndian.putShort(address + NEXT_OFFSET, (short) next);
  }
}
