package dev.doorbell.core.fabric;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Stores to device registers on their way from one host thread to another, in order: one writes,
 * one takes.
 *
 * <p>Each is four longs: address, width in bytes, low and high value.
 */
final class DoorbellRing {
  private static final int CAPACITY = 1024;
  private static final int FIELDS = 4;

  private final long[] stores = new long[CAPACITY * FIELDS];
  private final AtomicLong written = new AtomicLong();
  private final AtomicLong taken = new AtomicLong();

  /** What takes the stores. */
  interface Target {
    void store(long address, int bytes, long low, long high);
  }

  /** Appends a store; waits while the ring is full, which its reader empties all the time. */
  void put(long address, int bytes, long low, long high) {
    long index = written.getPlain();
    while (index - taken.getAcquire() == CAPACITY) {
      Thread.onSpinWait();
    }
    int at = (int) (index & (CAPACITY - 1)) * FIELDS;
    stores[at] = address;
    stores[at + 1] = bytes;
    stores[at + 2] = low;
    stores[at + 3] = high;
    written.setRelease(index + 1);
  }

  /** Takes what is there. */
  int drain(Target target) {
    long from = taken.getPlain();
    long to = written.getAcquire();
    for (long index = from; index < to; index++) {
      int at = (int) (index & (CAPACITY - 1)) * FIELDS;
      target.store(stores[at], (int) stores[at + 1], stores[at + 2], stores[at + 3]);
      taken.setRelease(index + 1);
    }
    if (to != from) {
      VarHandle.acquireFence();
    }
    return (int) (to - from);
  }
}
