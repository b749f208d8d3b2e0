package dev.doorbell.core.fabric.timed;

/** What lets so many bytes a nanosecond through, one access after another. */
final class Gate {
  private static final double PICOS_PER_NANO = 1000;

  final long block;

  /** Of the block, that have not ended. */
  int threads;

  private final double picosPerByte;
  private double free;

  /**
   * @param bytesPerNano its rate
   * @param block the number of the block whose accesses it bounds, where it is a block's
   */
  Gate(double bytesPerNano, long block) {
    this.picosPerByte = PICOS_PER_NANO / bytesPerNano;
    this.block = block;
  }

  /**
   * Lets an access of a thread through.
   *
   * @return when it has its turn: at {@code time} or later
   */
  long pass(long time, int bytes) {
    double turn = Math.max((double) time, free);
    free = turn + bytes * picosPerByte;
    return Math.round(turn);
  }
}
