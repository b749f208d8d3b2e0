package dev.doorbell.experiments.run;

import java.lang.management.ManagementFactory;
import java.time.Duration;

/**
 * The time that a point has taken, against what it may take. A point whose numbers are wall time
 * counts that. One in virtual time counts the processor time of its thread, so that a busy machine
 * takes nothing from it; where the thread gets hardly any, it waits for something that does not
 * come, and the wall counts.
 */
final class PointTimer {
  /** A thread that runs gets more than this share of the wall, however busy the machine is. */
  private static final int WAITS_BELOW = 200;

  private final boolean virtual;
  private final long allowed;
  private final long start = System.nanoTime();
  private volatile Thread thread = Thread.currentThread();

  /** Starts now; {@link #onThisThread} says later whose processor time counts. */
  PointTimer(boolean virtual, Duration allowed) {
    this.virtual = virtual;
    this.allowed = allowed.toNanos();
  }

  void onThisThread() {
    thread = Thread.currentThread();
  }

  long wallNanos() {
    return System.nanoTime() - start;
  }

  /** Returns whether the point has had its time and so much more. Safe from any thread. */
  boolean isOver(Duration more) {
    long wall = wallNanos();
    long most = allowed + more.toNanos();
    if (wall <= most || !virtual) {
      return wall > most;
    }
    long processor = ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.threadId());
    return processor > most || processor < wall / WAITS_BELOW;
  }
}
