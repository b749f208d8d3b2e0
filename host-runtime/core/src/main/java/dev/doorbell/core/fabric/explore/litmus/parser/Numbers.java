package dev.doorbell.core.fabric.explore.litmus.parser;

import org.jspecify.annotations.Nullable;

/** Numbers in a litmus file, and the numbers of its lines. */
final class Numbers {
  private Numbers() {}

  /** A decimal or hexadecimal 32-bit number, signed or not; null when it is none. */
  static @Nullable Integer parse(String word) {
    try {
      long value = Long.decode(word);
      return value < Integer.MIN_VALUE || value > 0xffff_ffffL ? null : (int) value;
    } catch (NumberFormatException e) {
      return null;
    }
  }

  /** The line of an offset, from 1. */
  static int line(String text, int offset) {
    int end = Math.min(offset, text.length());
    return 1 + (int) text.substring(0, end).chars().filter(c -> c == '\n').count();
  }
}
