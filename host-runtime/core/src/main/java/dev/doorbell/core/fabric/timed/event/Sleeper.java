package dev.doorbell.core.fabric.timed.event;

/** A thread that waits for memory to be written. */
public interface Sleeper {
  /** What it waits for may have happened at {@code when}, in picoseconds. */
  void wake(long when);
}
