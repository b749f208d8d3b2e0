package dev.doorbell.core.fabric.timed.event;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A heap of events in their order. Their times lie beside the events, four children of a node next
 * to each other: following an event to its time would miss the cache.
 */
final class EventHeap {
  /** Children of a node, as a shift. */
  private static final int FAN = 2;

  private @Nullable Event[] heap = new Event[64];
  private long[] times = new long[64];
  private int size;

  @Nullable Event first() {
    return heap[0];
  }

  /** Adds an event that is in no queue. */
  void add(Event event) {
    if (size == heap.length) {
      heap = Arrays.copyOf(heap, size * 2);
      times = Arrays.copyOf(times, size * 2);
    }
    up(event, event.time(), size++);
  }

  /** Takes out an event that is in this heap. */
  void remove(Event event) {
    int hole = event.place;
    event.place = Event.NOWHERE;
    Event last = at(--size);
    long time = times[size];
    heap[size] = null;
    if (hole != size) {
      if (hole > 0 && before(last, time, (hole - 1) >>> FAN)) {
        up(last, time, hole);
      } else {
        down(last, time, hole);
      }
    }
  }

  private Event at(int index) {
    Event event = heap[index];
    if (event == null) {
      throw new IndexOutOfBoundsException(index);
    }
    return event;
  }

  private void up(Event event, long time, int start) {
    int hole = start;
    while (hole > 0) {
      int above = (hole - 1) >>> FAN;
      if (!before(event, time, above)) {
        break;
      }
      move(above, hole);
      hole = above;
    }
    put(event, time, hole);
  }

  private void down(Event event, long time, int start) {
    int hole = start;
    int child = (hole << FAN) + 1;
    while (child < size) {
      int first = child;
      int end = Math.min(child + (1 << FAN), size);
      for (int other = child + 1; other < end; other++) {
        if (before(at(other), times[other], first)) {
          first = other;
        }
      }
      if (before(event, time, first)) {
        break;
      }
      move(first, hole);
      hole = first;
      child = (hole << FAN) + 1;
    }
    put(event, time, hole);
  }

  private void move(int from, int to) {
    put(at(from), times[from], to);
  }

  private void put(Event event, long time, int index) {
    heap[index] = event;
    times[index] = time;
    event.place = index;
  }

  private boolean before(Event event, long time, int index) {
    long other = times[index];
    return time != other ? time < other : event.before(at(index));
  }
}
