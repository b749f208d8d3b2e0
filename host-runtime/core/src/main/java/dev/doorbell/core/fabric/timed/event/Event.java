package dev.doorbell.core.fabric.timed.event;

import org.jspecify.annotations.Nullable;

/** Something that happens at a moment of virtual time. */
public abstract class Event {
  /** {@link #place} of an event that is in no queue. */
  static final int NOWHERE = -1;

  /** {@link #place} of an event in a bucket of {@link Timeline}. */
  static final int IN_BUCKET = -2;

  private long time;

  /** Its index in the heap of {@link Timeline}, or one of the negative places. */
  int place = NOWHERE;

  /** When it was scheduled: tells events of one moment apart. */
  long born;

  /** Counts up with everything that is scheduled: tells apart what was scheduled at one moment. */
  long order;

  /** The queue that it is in, or was in last. */
  @Nullable EventQueue at;

  /** Its neighbours in its bucket. */
  @Nullable Event previous;

  @Nullable Event next;

  /** Carries it out; called once for each time that it was scheduled. */
  protected abstract void fire();

  /** When it happens or has happened, in picoseconds of virtual time. */
  public final long time() {
    return time;
  }

  /** True while it is in a queue. */
  public final boolean scheduled() {
    return place != NOWHERE;
  }

  final void schedule(long when, long since, long number) {
    time = when;
    born = since;
    order = number;
  }

  /** Returns true if it comes before {@code other}. */
  final boolean before(Event other) {
    return time != other.time ? time < other.time : isBornBefore(other.born, other.order);
  }

  final boolean isBornBefore(long since, long number) {
    return born != since ? born < since : order < number;
  }
}
