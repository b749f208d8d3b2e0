package dev.doorbell.core.mlx5;

import dev.doorbell.core.mlx5.generated.SharedReceiveFields;

/**
 * The segment that begins every WQE of a shared receive queue; data segments follow, as in a {@link
 * ReceiveSegment} list.
 */
public final class SharedReceiveSegment extends SharedReceiveFields {
  private SharedReceiveSegment() {}

  /** Returns the address of WQE {@code index} of a ring of WQEs of {@code stride} bytes. */
  public static long wqeAddress(long ring, int stride, int index) {
    return ring + (long) index * stride;
  }
}
