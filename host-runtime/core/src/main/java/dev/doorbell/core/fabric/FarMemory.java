package dev.doorbell.core.fabric;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The memory of a fabric that only DMA engines reach, and whose turn it is to change a cell there:
 * an engine reads and writes, so one atomic at a time keeps devices from losing each other's.
 */
final class FarMemory {
  private final List<DmaEngine> engines = new ArrayList<>();
  private final Queue<Runnable> atomics = new ArrayDeque<>();
  private boolean atomicRuns;

  void add(DmaEngine engine) {
    engines.add(engine);
  }

  void remove(DmaEngine engine) {
    engines.remove(engine);
  }

  boolean isEmpty() {
    return engines.isEmpty();
  }

  /** Who reaches these bytes; null when nobody does. */
  @Nullable DmaEngine engine(long address, long bytes) {
    for (int i = 0; i < engines.size(); i++) {
      if (engines.get(i).reaches(address, bytes)) {
        return engines.get(i);
      }
    }
    return null;
  }

  boolean isIdle() {
    for (int i = 0; i < engines.size(); i++) {
      if (!engines.get(i).isIdle()) {
        return false;
      }
    }
    return true;
  }

  /** Starts an atomic, now or when those before it have ended; it calls {@link #atomicEnded}. */
  void atomic(Runnable start) {
    if (atomicRuns) {
      atomics.add(start);
    } else {
      atomicRuns = true;
      start.run();
    }
  }

  void atomicEnded() {
    Runnable next = atomics.poll();
    if (next == null) {
      atomicRuns = false;
    } else {
      next.run();
    }
  }
}
