package dev.doorbell.core.fabric.timed;

import java.util.Arrays;

/**
 * Which lines of its own memory a GPU thread loaded lately, for the price of loading them again.
 * Values are never cached: only time is.
 */
final class LoadCache {
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
  long arrival(long address, long hit, long miss) {
    long line = address >>> LINE_SHIFT;
    int slot = (int) line & (LINES - 1);
    if (tags[slot] == line) {
      return Math.max(hit, filled[slot]);
    }
    tags[slot] = line;
    filled[slot] = miss;
    return miss;
  }

  /** An acquire at GPU scope or wider: nothing that was cached may be believed. */
  void forget() {
    Arrays.fill(tags, 0);
  }
}
