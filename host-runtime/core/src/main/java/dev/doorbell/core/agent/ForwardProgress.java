package dev.doorbell.core.agent;

/**
 * Rule by which threads of a GPU go on while others wait. A kernel that ends under {@link #FAIR}
 * alone relies on progress that is not promised everywhere: blocks run at the same time in
 * cooperative launches, lanes of a warp go on apart from each other from sm_70 on.
 */
public enum ForwardProgress {
  /** Every thread that has begun, and as many blocks as there is room for. */
  FAIR,
  /** One block after the other. */
  BLOCKS_ASCENDING,
  /** One block after the other, that with the highest number first. */
  BLOCKS_DESCENDING,
  /**
   * One lane alone of those of a warp that could go on, until it ends or waits at a barrier or warp
   * operation; then the lowest.
   */
  LANES_ASCENDING,
  /** The same, but then the highest. */
  LANES_DESCENDING;

  /** True when one block runs after the other. */
  public boolean blocksApart() {
    return this == BLOCKS_ASCENDING || this == BLOCKS_DESCENDING;
  }

  /** True when one lane of a warp runs after the other. */
  public boolean lanesApart() {
    return this == LANES_ASCENDING || this == LANES_DESCENDING;
  }
}
