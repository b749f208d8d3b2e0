package dev.doorbell.core.fabric.timed;

/** Something that happens at a moment of virtual time. */
abstract class Event {
  /** Picoseconds of virtual time. */
  long time;

  /** Where {@link EventQueue} keeps it, or -1. */
  int slot = -1;

  abstract void fire();

  /** True while it waits to happen. */
  final boolean scheduled() {
    return slot >= 0;
  }
}
