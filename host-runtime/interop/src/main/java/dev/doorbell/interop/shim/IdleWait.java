package dev.doorbell.interop.shim;

import dev.doorbell.interop.shim.client.RunnableThreads;
import java.io.IOException;

/**
 * Decides how long the serving thread sleeps when there is no work. Where a core is free it does
 * not sleep for a while. Else it sleeps at once, because the scheduler prefers a thread that wakes
 * to programs that poll, but not one that spins, and because the program that it answered may wait
 * for this core; for longer and longer times, because not every doorbell wakes it. Where all
 * doorbells do, it sleeps until the next one.
 */
final class IdleWait implements AutoCloseable {
  /**
   * After this time it sleeps although a core is free. Under some hypervisors a sleep takes more
   * than 50 us, however short it is meant to be.
   */
  private static final long SPARE_SPIN_NANOS = 1_000_000;

  private static final long MIN_SLEEP_NANOS = 4_000;
  private static final long MAX_SLEEP_NANOS = 1_000_000;
  private static final int SLEEP_FRACTION = 16;

  /** A sleep without an end in sight; a later timer than the system's own tick costs nothing. */
  private static final long LONG_SLEEP_NANOS = 10_000_000;

  private static final long NO_QUEUES_NANOS = 10_000_000;

  /** Doorbells one after the other, each with its message, that show that all come with one. */
  private static final int ENOUGH_MESSAGES = 16;

  private final RunnableThreads runnable =
      new RunnableThreads(Runtime.getRuntime().availableProcessors());
  private int messages;

  /** A program has rung while the thread slept, and sends a message. */
  void onMessage() {
    messages++;
  }

  /** The thread has found a doorbell after a sleep in which no program sent a message. */
  void onDoorbellWithoutMessage() {
    messages = 0;
  }

  /**
   * Returns how long to sleep.
   *
   * @param idleNanos since the last work
   * @return nanoseconds; 0 for not at all
   */
  long nanos(long idleNanos, boolean hasQueues) {
    if (!hasQueues) {
      return NO_QUEUES_NANOS;
    }
    if (idleNanos < SPARE_SPIN_NANOS && runnable.haveCores()) {
      return 0;
    }
    return messages >= ENOUGH_MESSAGES
        ? LONG_SLEEP_NANOS
        : Math.clamp(idleNanos / SLEEP_FRACTION, MIN_SLEEP_NANOS, MAX_SLEEP_NANOS);
  }

  @Override
  public void close() throws IOException {
    runnable.close();
  }
}
