package dev.doorbell.core.fabric.timed;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A binary heap of events by time, then by the order in which they were scheduled. */
final class EventQueue {
  private @Nullable Event[] heap = new Event[64];
  private int size;
  private long scheduled;

  int size() {
    return size;
  }

  /** The time of the next event, or {@link Long#MAX_VALUE}. */
  long nextTime() {
    Event next = heap[0];
    return next == null ? Long.MAX_VALUE : next.time;
  }

  /** Schedules an event, or moves one that is scheduled already. */
  void schedule(Event event, long time) {
    if (event.slot >= 0) {
      remove(event);
    }
    event.time = time;
    event.order = scheduled++;
    if (size == heap.length) {
      heap = Arrays.copyOf(heap, size * 2);
    }
    up(event, size++);
  }

  void remove(Event event) {
    int hole = event.slot;
    if (hole < 0) {
      return;
    }
    event.slot = -1;
    Event last = at(--size);
    heap[size] = null;
    if (hole != size) {
      if (hole > 0 && before(last, at((hole - 1) >>> 1))) {
        up(last, hole);
      } else {
        down(last, hole);
      }
    }
  }

  @Nullable Event poll() {
    Event first = heap[0];
    if (first != null) {
      remove(first);
    }
    return first;
  }

  /** The event at {@code index}, for reports. */
  Event at(int index) {
    Event event = heap[index];
    if (event == null) {
      throw new IndexOutOfBoundsException(index);
    }
    return event;
  }

  private void up(Event event, int start) {
    int hole = start;
    while (hole > 0) {
      int above = (hole - 1) >>> 1;
      Event parent = at(above);
      if (!before(event, parent)) {
        break;
      }
      put(parent, hole);
      hole = above;
    }
    put(event, hole);
  }

  private void down(Event event, int start) {
    int hole = start;
    while (2 * hole + 1 < size) {
      int below = 2 * hole + 1;
      if (below + 1 < size && before(at(below + 1), at(below))) {
        below++;
      }
      Event child = at(below);
      if (!before(child, event)) {
        break;
      }
      put(child, hole);
      hole = below;
    }
    put(event, hole);
  }

  private void put(Event event, int index) {
    heap[index] = event;
    event.slot = index;
  }

  private static boolean before(Event one, Event other) {
    return one.time != other.time ? one.time < other.time : one.order < other.order;
  }
}
