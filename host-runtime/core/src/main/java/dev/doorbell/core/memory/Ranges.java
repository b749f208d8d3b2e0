package dev.doorbell.core.memory;

import java.util.Map;
import java.util.TreeMap;

/** Disjoint ranges of addresses; ranges that touch are one. */
final class Ranges {
  private final TreeMap<Long, Long> lengths = new TreeMap<>();
  private long bytes;

  @FunctionalInterface
  interface Receiver {
    /** Takes a range of {@code length} bytes. */
    void range(long start, long length);
  }

  long bytes() {
    return bytes;
  }

  /** Adds a range, which overlaps none. */
  void add(long start, long length) {
    bytes += length;
    long first = start;
    long whole = length;
    Map.Entry<Long, Long> before = lengths.floorEntry(start);
    if (before != null && before.getKey() + before.getValue() == start) {
      first = before.getKey();
      whole += before.getValue();
    }
    Long after = lengths.remove(start + length);
    if (after != null) {
      whole += after;
    }
    lengths.put(first, whole);
  }

  /** Returns the start of the lowest range of at least {@code length} bytes, or -1. */
  long find(long length) {
    for (Map.Entry<Long, Long> range : lengths.entrySet()) {
      if (range.getValue() >= length) {
        return range.getKey();
      }
    }
    return -1;
  }

  /** Removes what lies in {@code [start, start + length)} and gives it to {@code removed}. */
  void remove(long start, long length, Receiver removed) {
    long end = start + length;
    Map.Entry<Long, Long> last = lengths.lowerEntry(end);
    while (last != null && last.getKey() + last.getValue() > start) {
      long from = last.getKey();
      long to = from + last.getValue();
      lengths.remove(from);
      if (to > end) {
        lengths.put(end, to - end);
      }
      if (from < start) {
        lengths.put(from, start - from);
      }
      long cut = Math.max(from, start);
      long taken = Math.min(to, end) - cut;
      bytes -= taken;
      removed.range(cut, taken);
      last = lengths.lowerEntry(end);
    }
  }

  /**
   * Removes all ranges and gives them to {@code removed}; those that are at most {@code gap} bytes
   * apart as one, with what lies between them.
   */
  void clear(long gap, Receiver removed) {
    long from = 0;
    long to = -1;
    for (Map.Entry<Long, Long> range : lengths.entrySet()) {
      if (to >= 0 && range.getKey() - to > gap) {
        removed.range(from, to - from);
        to = -1;
      }
      from = to < 0 ? range.getKey() : from;
      to = range.getKey() + range.getValue();
    }
    if (to >= 0) {
      removed.range(from, to - from);
    }
    lengths.clear();
    bytes = 0;
  }
}
