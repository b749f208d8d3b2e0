package dev.doorbell.core.fabric;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Stores to device registers on their way from one host thread to another, in order: one writes,
 * one takes.
 *
 * <p>Each is four longs: address, width in bytes, low and high value. What one thread writes often
 * lies two cache lines away from what the other does, and each looks at the other's index only when
 * it has to: a doorbell then costs one line on its way.
 */
final class DoorbellRing {
  private static final int CAPACITY = 1024;
  private static final int FIELDS = 4;

  private final long[] stores = new long[CAPACITY * FIELDS];

  /** Longs in two cache lines; processors fetch them in pairs. */
  private static final int APART = 16;

  private static final int WRITTEN = APART;
  private static final int TAKEN = 3 * APART;

  private final AtomicLongArray indices = new AtomicLongArray(5 * APART);

  /** The writer's own, in its line: what {@link #TAKEN} was when it last looked. */
  private static final int SEEN = WRITTEN + 1;

  /** What takes the stores. */
  interface Target {
    void store(long address, int bytes, long low, long high);
  }

  /** Appends a store; waits while the ring is full, which its reader empties all the time. */
  void put(long address, int bytes, long low, long high) {
    long index = indices.getPlain(WRITTEN);
    while (index - indices.getPlain(SEEN) == CAPACITY) {
      Thread.onSpinWait();
      indices.setPlain(SEEN, indices.getAcquire(TAKEN));
    }
    int at = (int) (index & (CAPACITY - 1)) * FIELDS;
    stores[at] = address;
    stores[at + 1] = bytes;
    stores[at + 2] = low;
    stores[at + 3] = high;
    indices.setRelease(WRITTEN, index + 1);
  }

  /** Takes what is there. */
  int drain(Target target) {
    long from = indices.getPlain(TAKEN);
    long to = indices.getAcquire(WRITTEN);
    for (long index = from; index < to; index++) {
      int at = (int) (index & (CAPACITY - 1)) * FIELDS;
      target.store(stores[at], (int) stores[at + 1], stores[at + 2], stores[at + 3]);
    }
    if (to != from) {
      indices.setRelease(TAKEN, to);
      VarHandle.acquireFence();
    }
    return (int) (to - from);
  }
}
