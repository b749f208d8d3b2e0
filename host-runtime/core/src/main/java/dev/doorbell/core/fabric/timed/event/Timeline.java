package dev.doorbell.core.fabric.timed.event;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Events to come, by time; those of one moment happen in the order in which they were scheduled.
 *
 * <p>Most events are scheduled a few hundred nanoseconds ahead, hundreds of them within one: the
 * next microsecond is a calendar of short buckets, each a list in order, so that an event enters
 * and leaves in a constant number of steps. A heap has what is later, and what would have to pass
 * many events of its bucket. The next event is the first of the two. Nothing is allocated for an
 * event.
 */
final class Timeline {
  /** Picoseconds of a bucket, as a shift: about what a GPU's instruction takes. */
  private static final int WIDTH = 8;

  private static final int BUCKETS = 4096;
  private static final int WORD = 6;

  /** The most events of its bucket that an event passes, from the end. */
  private static final int STEPS = 16;

  /** The first and the last event of each bucket, side by side. */
  private final @Nullable Event[] ends = new Event[2 * BUCKETS];

  /** Bits of the buckets that have events, and bits of those words that are not 0. */
  private final long[] filled = new long[BUCKETS >>> WORD];

  private long filledWords;

  /** The first bucket of the calendar, counted from time 0: that of the event polled last. */
  private long base;

  private final EventHeap heap = new EventHeap();
  private @Nullable Event first;

  /** The next event, or null. */
  @Nullable Event first() {
    return first;
  }

  /** The time of the next event, or {@link Long#MAX_VALUE}. */
  long nextTime() {
    Event next = first;
    return next == null ? Long.MAX_VALUE : next.time();
  }

  /** Adds an event that is in no queue. */
  void add(Event event) {
    if (bucket(event) - base >= BUCKETS || !enter(event)) {
      heap.add(event);
    }
    Event next = first;
    if (next == null || event.before(next)) {
      first = event;
    }
  }

  /** Takes out an event that is in this timeline. */
  void remove(Event event) {
    take(event);
    if (event.equals(first)) {
      first = find();
    }
  }

  /** Takes out {@link #first}, which is not null. */
  void poll(Event event) {
    Event next = event.next;
    take(event);
    base = Math.max(base, event.time() >>> WIDTH);
    // Behind the first event of its bucket is the next one of the calendar.
    first = next == null ? find() : earlier(next);
  }

  /** The calendar of a timeline without events begins at {@code time}, or goes on. */
  void startAt(long time) {
    base = Math.max(base, time >>> WIDTH);
  }

  /** Takes out all events and hands them to {@code taker}, in their order. */
  void forEachTaken(Consumer<Event> taker) {
    for (Event event = first; event != null; event = first) {
      remove(event);
      taker.accept(event);
    }
  }

  /** The bucket of an event, counted from time 0; what comes before the first one shares it. */
  private long bucket(Event event) {
    return Math.max(event.time() >>> WIDTH, base);
  }

  /** Puts an event into its bucket, or returns false where its place is far from the end. */
  private boolean enter(Event event) {
    int index = (int) bucket(event) & (BUCKETS - 1);
    Event next = null;
    Event previous = ends[2 * index + 1];
    for (int steps = 0; previous != null && event.before(previous); steps++) {
      if (steps == STEPS) {
        return false;
      }
      next = previous;
      previous = previous.previous;
    }
    event.place = Event.IN_BUCKET;
    link(index, previous, event);
    link(index, event, next);
    filled[index >>> WORD] |= 1L << index;
    filledWords |= 1L << (index >>> WORD);
    return true;
  }

  private void take(Event event) {
    if (event.place != Event.IN_BUCKET) {
      heap.remove(event);
      return;
    }
    // Where it is the only one of its list, or at an end, the bucket's ends change.
    int index = (int) bucket(event) & (BUCKETS - 1);
    link(index, event.previous, event.next);
    event.previous = null;
    event.next = null;
    event.place = Event.NOWHERE;
    if (ends[2 * index] == null) {
      filled[index >>> WORD] &= ~(1L << index);
      if (filled[index >>> WORD] == 0) {
        filledWords &= ~(1L << (index >>> WORD));
      }
    }
  }

  /** Makes two events neighbours; where there is no such event, the other one is at an end. */
  private void link(int index, @Nullable Event left, @Nullable Event right) {
    if (left == null) {
      ends[2 * index] = right;
    } else {
      left.next = right;
    }
    if (right == null) {
      ends[2 * index + 1] = left;
    } else {
      right.previous = left;
    }
  }

  /** The next event of the calendar, whose buckets go round from the base on, or of the heap. */
  private @Nullable Event find() {
    if (filledWords == 0) {
      return heap.first();
    }
    int start = (int) base & (BUCKETS - 1);
    int word = start >>> WORD;
    long bits = filled[word] & (-1L << start);
    if (bits == 0) {
      long behind = filledWords & (-2L << word);
      word = lowest(behind != 0 ? behind : filledWords);
      bits = filled[word];
    }
    return earlier(ends[2 * ((word << WORD) + lowest(bits))]);
  }

  /** The number of the lowest bit, without branches: the JVM's first compiler has no better one. */
  private static int lowest(long bits) {
    return Long.bitCount(~bits & (bits - 1));
  }

  /** The first of an event of the calendar and those of the heap. */
  private @Nullable Event earlier(@Nullable Event near) {
    Event other = heap.first();
    return near == null || (other != null && other.before(near)) ? other : near;
  }
}
