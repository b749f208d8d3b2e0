package dev.doorbell.core.fabric.timed.event;

/** Something that happens at a moment of virtual time. */
public abstract class Event {
  private long time;

  /** The index at which {@link EventQueue} keeps it, or -1. */
  int slot = -1;

  /** Carries it out; called once for each time that it was scheduled. */
  protected abstract void fire();

  /** When it happens or has happened, in picoseconds of virtual time. */
  public final long time() {
    return time;
  }

  /** True while it is in a queue. */
  public final boolean scheduled() {
    return slot >= 0;
  }

  final void time(long when) {
    time = when;
  }
}
