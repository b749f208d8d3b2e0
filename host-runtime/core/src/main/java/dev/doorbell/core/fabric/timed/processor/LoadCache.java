package dev.doorbell.core.fabric.timed.processor;

import java.util.Arrays;

/**
 * Which lines of its own memory a GPU thread has recently loaded, for the price of loading them
 * again. Values are never cached: only time is.
 */
public final class LoadCache {
  private static final int LINE_SHIFT = 7;
  private static final int LINES = 64;

  private final long[] tags = new long[LINES];
  private final long[] filled = new long[LINES];

  /**
   * When a load has its value; its line is there from then on.
   *
   * @param hit when it has it where the line is there already
   * @param miss when it has it where the line is not, nor on its way
   */
  public long arrival(long address, long hit, long miss) {
    long line = address >>> LINE_SHIFT;
    int slot = (int) line & (LINES - 1);
    if (tags[slot] == line) {
      return Math.max(hit, filled[slot]);
    }
    tags[slot] = line;
    filled[slot] = miss;
    return miss;
  }

  /** Empties the cache: for an acquire at GPU scope or wider. */
  public void forget() {
    Arrays.fill(tags, 0);
  }
}
