package dev.doorbell.core.fabric.timed.event;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The clock of virtual time and a heap of events by time; those of one moment happen in the order
 * in which they were scheduled. What is compared lies beside the events, four children of a node
 * next to each other: following an event to its time would miss the cache, as thousands of threads
 * have theirs in the queue.
 */
public final class EventQueue {
  /** Children of a node, as a shift. */
  private static final int FAN = 2;

  private @Nullable Event[] heap = new Event[64];
  private long[] times = new long[64];
  private long[] orders = new long[64];
  private int size;
  private long scheduled;
  private long clock;

  /** The current virtual time in picoseconds, from 0. */
  public long clock() {
    return clock;
  }

  /** Sets the clock. */
  public void clock(long time) {
    clock = time;
  }

  /** Sets the clock to the time of {@code event}, which was polled, and carries it out. */
  public void fire(Event event) {
    clock = event.time();
    event.fire();
  }

  /** How many events are scheduled. */
  public int size() {
    return size;
  }

  /** The time of the next event, or {@link Long#MAX_VALUE}. */
  public long nextTime() {
    return size == 0 ? Long.MAX_VALUE : times[0];
  }

  /** Schedules an event, or moves one that is scheduled already. */
  public void schedule(Event event, long time) {
    if (event.slot >= 0) {
      remove(event);
    }
    event.time(time);
    if (size == heap.length) {
      heap = Arrays.copyOf(heap, size * 2);
      times = Arrays.copyOf(times, size * 2);
      orders = Arrays.copyOf(orders, size * 2);
    }
    up(event, time, scheduled++, size++);
  }

  /** Takes an event out; nothing when it is not scheduled. */
  public void remove(Event event) {
    int hole = event.slot;
    if (hole < 0) {
      return;
    }
    event.slot = -1;
    Event last = at(--size);
    long time = times[size];
    long order = orders[size];
    heap[size] = null;
    if (hole != size) {
      if (hole > 0 && before(time, order, (hole - 1) >>> FAN)) {
        up(last, time, order, hole);
      } else {
        down(last, time, order, hole);
      }
    }
  }

  /** Takes out the next event, or returns null. */
  public @Nullable Event poll() {
    Event first = heap[0];
    if (first != null) {
      remove(first);
    }
    return first;
  }

  private Event at(int index) {
    Event event = heap[index];
    if (event == null) {
      throw new IndexOutOfBoundsException(index);
    }
    return event;
  }

  private void up(Event event, long time, long order, int start) {
    int hole = start;
    while (hole > 0) {
      int above = (hole - 1) >>> FAN;
      if (!before(time, order, above)) {
        break;
      }
      move(above, hole);
      hole = above;
    }
    put(event, time, order, hole);
  }

  private void down(Event event, long time, long order, int start) {
    int hole = start;
    int child = (hole << FAN) + 1;
    while (child < size) {
      int first = child;
      int end = Math.min(child + (1 << FAN), size);
      for (int other = child + 1; other < end; other++) {
        if (before(times[other], orders[other], first)) {
          first = other;
        }
      }
      if (before(time, order, first)) {
        break;
      }
      move(first, hole);
      hole = first;
      child = (hole << FAN) + 1;
    }
    put(event, time, order, hole);
  }

  private void move(int from, int to) {
    put(at(from), times[from], orders[from], to);
  }

  private void put(Event event, long time, long order, int index) {
    heap[index] = event;
    times[index] = time;
    orders[index] = order;
    event.slot = index;
  }

  /** Whether an event of this time and order comes before the one at {@code index}. */
  private boolean before(long time, long order, int index) {
    long other = times[index];
    return time != other ? time < other : order < orders[index];
  }
}
