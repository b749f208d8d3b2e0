package dev.doorbell.core.fabric.timed.event;

import org.jspecify.annotations.Nullable;

/** Something that happens at a moment of virtual time. */
public abstract class Event {
  /** {@link #place} of an event that is in no queue. */
  static final int NOWHERE = -1;

  /** {@link #place} of an event in a bucket of {@link EventQueue}. */
  static final int IN_BUCKET = -2;

  private long time;

  /** Its index in the heap of {@link EventQueue}, or one of the negative places. */
  int place = NOWHERE;

  /** Counts up with everything that is scheduled: tells events of one moment apart. */
  long order;

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

  final void schedule(long when, long number) {
    time = when;
    order = number;
  }

  /** Whether it comes before {@code other}. */
  final boolean before(Event other) {
    return time != other.time ? time < other.time : order < other.order;
  }
}
