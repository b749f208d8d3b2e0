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

  /** Whether the line of {@code address} is there; it is from now on. */
  boolean holds(long address) {
    long line = address >>> LINE_SHIFT;
    int slot = (int) line & (LINES - 1);
    boolean hit = tags[slot] == line;
    tags[slot] = line;
    return hit;
  }

  /** An acquire at GPU scope or wider: nothing that was cached may be believed. */
  void forget() {
    Arrays.fill(tags, 0);
  }
}
