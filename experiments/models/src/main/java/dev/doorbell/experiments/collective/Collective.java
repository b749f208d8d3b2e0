package dev.doorbell.experiments.collective;

/**
 * The collectives, with buffers and bus bandwidth as nccl-tests define them (its
 * doc/PERFORMANCE.md).
 */
public enum Collective {
  ALL_REDUCE,
  REDUCE_SCATTER,
  ALL_GATHER,
  BROADCAST,
  REDUCE,
  ALL_TO_ALL,
  /** All-to-all whose blocks differ: block {@code i -> j} has a share of its own of the room. */
  ALL_TO_ALL_V,
  BARRIER;

  /** Blocks of a buffer that is divided among ranks are multiples of this. */
  private static final int BLOCK = 16;

  /** Returns whether elements are reduced. */
  public boolean reduces() {
    return this == ALL_REDUCE || this == REDUCE_SCATTER || this == REDUCE;
  }

  /** Returns whether one rank is different from the others. */
  public boolean rooted() {
    return this == BROADCAST || this == REDUCE;
  }

  /** Returns whether the result may lie where the contribution did. */
  public boolean inPlace() {
    return !exchanges() && this != BARRIER;
  }

  boolean exchanges() {
    return this == ALL_TO_ALL || this == ALL_TO_ALL_V;
  }

  /** Returns whether the larger buffer is divided into a block for each rank. */
  public boolean divides() {
    return this == REDUCE_SCATTER || this == ALL_GATHER || exchanges();
  }

  /** Bytes of a block, or of the whole buffer where it is not divided. */
  long block(long size, int ranks) {
    return this == BARRIER ? 0 : divides() ? size / ranks / BLOCK * BLOCK : size;
  }

  /** Bytes of the larger buffer: what a table calls size. */
  public long bytes(long size, int ranks) {
    return divides() ? block(size, ranks) * ranks : block(size, ranks);
  }

  long sendBytes(long size, int ranks) {
    return this == ALL_GATHER ? block(size, ranks) : bytes(size, ranks);
  }

  /** Bytes of a rank's result. */
  long receiveBytes(long size, int ranks) {
    return this == REDUCE_SCATTER ? block(size, ranks) : bytes(size, ranks);
  }

  /** Elements of the parameter {@code count} of the collective's call. */
  public long count(long size, int ranks, DataType type) {
    return block(size, ranks) / type.bytes();
  }

  /**
   * Returns the factor of the algorithm's bandwidth with which the bus bandwidth is that of a
   * rank's port where the algorithm is optimal.
   */
  public double busFactor(int ranks) {
    return switch (this) {
      case ALL_REDUCE -> 2.0 * (ranks - 1) / ranks;
      case REDUCE_SCATTER, ALL_GATHER, ALL_TO_ALL, ALL_TO_ALL_V -> (ranks - 1.0) / ranks;
      case BROADCAST, REDUCE, BARRIER -> 1;
    };
  }
}
