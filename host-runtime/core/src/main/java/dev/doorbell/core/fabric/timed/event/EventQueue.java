package dev.doorbell.core.fabric.timed.event;

import org.jspecify.annotations.Nullable;

/**
 * The clock of virtual time and the events to come, by time; those of one moment happen in the
 * order in which they were scheduled.
 *
 * <p>Most events are scheduled a few hundred nanoseconds ahead, hundreds of them within one: the
 * next microsecond is a calendar of short buckets, each a list in order, so that an event enters
 * and leaves in a constant number of steps. A heap has what is later, and what would have to pass
 * many events of its bucket. The next event is the first of the two. Nothing is allocated for an
 * event.
 */
public final class EventQueue {
  /** Picoseconds of a bucket, as a shift: about what a GPU's instruction takes. */
  private static final int WIDTH = 8;

  private static final int BUCKETS = 4096;
  private static final int WORD = 6;

  /** How many events of its bucket an event passes at most, from the end. */
  private static final int STEPS = 16;

  private final @Nullable Event[] heads = new Event[BUCKETS];
  private final @Nullable Event[] tails = new Event[BUCKETS];

  /** Which buckets have events, a bit each; and which of these words are not 0. */
  private final long[] filled = new long[BUCKETS >>> WORD];

  private long filledWords;

  /** The first bucket of the calendar, counted from time 0: that of the event polled last. */
  private long base;

  private final EventHeap heap = new EventHeap();
  private @Nullable Event first;
  private int size;
  private long scheduled;
  private long fired;
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
    fired++;
    event.fire();
  }

  /** How many events have been carried out. */
  public long fired() {
    return fired;
  }

  /** How many events are scheduled. */
  public int size() {
    return size;
  }

  /** The time of the next event, or {@link Long#MAX_VALUE}. */
  public long nextTime() {
    Event next = first;
    return next == null ? Long.MAX_VALUE : next.time();
  }

  /** Schedules an event, or moves one that is scheduled already. */
  public void schedule(Event event, long time) {
    remove(event);
    event.schedule(time, scheduled++);
    size++;
    if (bucket(event) - base >= BUCKETS || !enter(event)) {
      heap.add(event);
    }
    Event before = first;
    if (before == null || time < before.time()) {
      first = event;
    }
  }

  /** Takes an event out; nothing when it is not scheduled. */
  public void remove(Event event) {
    if (!event.scheduled()) {
      return;
    }
    take(event);
    if (event.equals(first)) {
      first = find();
    }
  }

  /** Takes out the next event, or returns null. */
  public @Nullable Event poll() {
    Event event = first;
    if (event == null) {
      return null;
    }
    take(event);
    base = Math.max(base, event.time() >>> WIDTH);
    first = find();
    return event;
  }

  /** The bucket of an event, counted from time 0; what comes before the first one shares it. */
  private long bucket(Event event) {
    return Math.max(event.time() >>> WIDTH, base);
  }

  /** Puts an event into its bucket, or returns false where its place is far from the end. */
  private boolean enter(Event event) {
    int index = (int) bucket(event) & (BUCKETS - 1);
    Event next = null;
    Event previous = tails[index];
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
    size--;
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
    if (heads[index] == null) {
      filled[index >>> WORD] &= ~(1L << index);
      if (filled[index >>> WORD] == 0) {
        filledWords &= ~(1L << (index >>> WORD));
      }
    }
  }

  /** Makes two events neighbours; where there is no such event, the other one is at an end. */
  private void link(int index, @Nullable Event left, @Nullable Event right) {
    if (left == null) {
      heads[index] = right;
    } else {
      left.next = right;
    }
    if (right == null) {
      tails[index] = left;
    } else {
      right.previous = left;
    }
  }

  /** The next event of the calendar, whose buckets go round from the base on, or of the heap. */
  private @Nullable Event find() {
    Event other = heap.first();
    if (filledWords == 0) {
      return other;
    }
    int start = (int) base & (BUCKETS - 1);
    int word = start >>> WORD;
    long bits = filled[word] & (-1L << start);
    if (bits == 0) {
      long behind = filledWords & (-2L << word);
      word = Long.numberOfTrailingZeros(behind != 0 ? behind : filledWords);
      bits = filled[word];
    }
    Event near = heads[(word << WORD) + Long.numberOfTrailingZeros(bits)];
    return near == null || (other != null && other.before(near)) ? other : near;
  }
}
