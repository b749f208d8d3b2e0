package dev.doorbell.core.fabric.timed.event;

/**
 * The present, and what is counted beside it: one of all queues where events happen in the order of
 * time, one of each queue where they run beside each other.
 */
final class Clock {
  /** Picoseconds. */
  long time;

  /** Counts up with everything that is scheduled. */
  long scheduled;

  /** Events that were carried out. */
  long fired;

  /** Events to come, less those that were scheduled by another clock. */
  long size;

  /** Threads that sleep between polls, likewise. */
  long polling;

  /** Writes under way, likewise. */
  long underWay;

  /** Takes over what {@code other} counted. */
  void add(Clock other) {
    scheduled = Math.max(scheduled, other.scheduled);
    fired += other.fired;
    size += other.size;
    polling += other.polling;
    underWay += other.underWay;
    other.fired = 0;
    other.size = 0;
    other.polling = 0;
    other.underWay = 0;
  }
}
