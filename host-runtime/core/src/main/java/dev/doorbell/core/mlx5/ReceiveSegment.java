package dev.doorbell.core.mlx5;

import dev.doorbell.core.mlx5.generated.DataSegment;

/**
 * A receive WQE: a list of {@link DataSegment}s of a stride that is a power of two, a short list
 * ended by {@link DataSegment#INVALID_LKEY}. There is no control segment and no doorbell: the
 * receive counter of the {@link DoorbellRecord} is enough. Source: rdma-core providers/mlx5/qp.c,
 * {@code mlx5_post_recv}.
 */
public final class ReceiveSegment extends DataSegment {
  private ReceiveSegment() {}

  /**
   * The address of receive WQE {@code index}.
   *
   * @param entries WQEs of the ring, a power of two
   * @param stride bytes of a WQE, a power of two of at least 16
   */
  public static long wqeAddress(long ring, int entries, int stride, long index) {
    return ring + (index & (entries - 1)) * stride;
  }

  /** True when the list ends before this segment. */
  public static boolean isTerminator(long address) {
    return lkey(address) == INVALID_LKEY;
  }
}
