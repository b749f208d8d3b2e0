package dev.doorbell.proxy;

/**
 * Which commands of one queue have been taken and have ended. Commands end in any order; the
 * frontier below which all of them have moves in order, and is what kernels see.
 */
final class CommandProgress implements CommandResults {
  private static final int MIN_CAPACITY = 1024;

  private final boolean[] ended;
  private final int mask;
  private final ProxyCounters counters;
  private long taken;
  private long frontier;
  private boolean failed;

  /**
   * @param entries of the queue, a power of two
   * @param start tickets below it have ended
   */
  CommandProgress(int entries, long start, ProxyCounters counters) {
    this.ended = new boolean[Math.max(entries, MIN_CAPACITY)];
    this.mask = ended.length - 1;
    this.taken = start;
    this.frontier = start;
    this.counters = counters;
  }

  /** Returns true if another command can be taken. */
  boolean hasRoom() {
    return taken - frontier < ended.length;
  }

  /** Takes the next command. */
  long take() {
    counters.commands++;
    long ticket = taken++;
    counters.highestOccupancy = Math.max(counters.highestOccupancy, taken - frontier);
    return ticket;
  }

  @Override
  public void finished(long ticket, boolean failed) {
    if (ticket < frontier || ticket >= taken || ended[(int) ticket & mask]) {
      throw new IllegalStateException(
          "command %d ended twice or was never taken (taken: below %d)".formatted(ticket, taken));
    }
    ended[(int) ticket & mask] = true;
    if (failed) {
      this.failed = true;
      counters.failed++;
    } else {
      counters.completed++;
    }
  }

  /** Moves the frontier on; true when it moved. */
  boolean advance() {
    long before = frontier;
    while (frontier < taken && ended[(int) frontier & mask]) {
      ended[(int) frontier & mask] = false;
      frontier++;
    }
    return frontier != before;
  }

  /** Every command below has ended. */
  long frontier() {
    return frontier;
  }

  /** True when a command failed. */
  boolean failed() {
    return failed;
  }

  /** Tickets below were taken. */
  long taken() {
    return taken;
  }
}
