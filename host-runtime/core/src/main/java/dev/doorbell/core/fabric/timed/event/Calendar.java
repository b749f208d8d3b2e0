package dev.doorbell.core.fabric.timed.event;

import java.util.Arrays;

/**
 * When a server of unit rate is busy. Work is booked for the future because a TLP reaches the later
 * links of its path after it left; a packet that arrives before that uses the time in between.
 */
public final class Calendar {
  /** Disjoint, not touching, in order; those before {@code head} have passed. */
  private long[] starts = new long[16];

  private long[] ends = new long[16];
  private int head;
  private int tail;

  private long started;

  /**
   * Books {@code work} picoseconds from {@code earliest} on, around what is booked already.
   *
   * @param now the present: everything that ends before it is forgotten
   * @return when the work is done
   */
  public long book(long earliest, long work, long now) {
    while (head < tail && ends[head] <= now) {
      head++;
    }
    started = earliest;
    if (work <= 0) {
      return earliest;
    }
    int next = tail;
    while (next > head && ends[next - 1] > earliest) {
      next--;
    }
    long at = earliest;
    long left = work;
    boolean begun = false;
    while (true) {
      long gapEnd = next < tail ? starts[next] : Long.MAX_VALUE;
      if (at < gapEnd) {
        if (!begun) {
          begun = true;
          started = at;
        }
        long used = Math.min(left, gapEnd - at);
        at += used;
        left -= used;
        if (left == 0) {
          break;
        }
      }
      at = ends[next++];
    }
    merge(started, at);
    return at;
  }

  /** When the work booked last starts. */
  public long started() {
    return started;
  }

  /** Marks {@code [from, to)} busy; everything in it is busy or free as a whole. */
  private void merge(long from, long to) {
    int low = insertionPoint(from);
    int high = low;
    long start = from;
    long end = to;
    while (high < tail && starts[high] <= to) {
      start = Math.min(start, starts[high]);
      end = Math.max(end, ends[high]);
      high++;
    }
    if (high == low) {
      makeRoom();
      // Making room may have moved the head to the front.
      low = insertionPoint(from);
      System.arraycopy(starts, low, starts, low + 1, tail - low);
      System.arraycopy(ends, low, ends, low + 1, tail - low);
      tail++;
    } else if (high > low + 1) {
      System.arraycopy(starts, high, starts, low + 1, tail - high);
      System.arraycopy(ends, high, ends, low + 1, tail - high);
      tail -= high - low - 1;
    }
    starts[low] = start;
    ends[low] = end;
  }

  private int insertionPoint(long from) {
    int low = tail;
    while (low > head && ends[low - 1] >= from) {
      low--;
    }
    return low;
  }

  private void makeRoom() {
    if (tail < starts.length) {
      return;
    }
    int live = tail - head;
    if (head > 0) {
      System.arraycopy(starts, head, starts, 0, live);
      System.arraycopy(ends, head, ends, 0, live);
    } else {
      starts = Arrays.copyOf(starts, starts.length * 2);
      ends = Arrays.copyOf(ends, ends.length * 2);
    }
    head = 0;
    tail = live;
  }
}
