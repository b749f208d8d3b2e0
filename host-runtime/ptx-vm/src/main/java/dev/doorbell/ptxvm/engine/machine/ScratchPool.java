package dev.doorbell.ptxvm.engine.machine;

import dev.doorbell.core.Basis;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;

/**
 * Windows and parameters of launches that have ended, for the next launch of the same kernel and
 * shape. Memory that goes back to the system costs a page fault a page when it comes again, which
 * for a thousand threads with a stack each is a sixth of a short launch.
 *
 * <p>Used on the thread that runs the fabric.
 */
public final class ScratchPool {
  /** Less is not worth the keeping. */
  private static final long FEWEST_BYTES = 256L << 10;

  /** More than this is not kept. */
  private static final long MOST_BYTES = 32L << 20;

  private final Fabric fabric;
  private final Locus locus;
  private final Deque<Allocation> idle = new ArrayDeque<>();
  private long idleBytes;

  /** An empty pool of a GPU's memory. */
  public ScratchPool(Fabric fabric, Locus locus) {
    this.fabric = fabric;
    this.locus = locus;
  }

  /** Zeroed memory. */
  Allocation take(long bytes, String label) {
    Iterator<Allocation> kept = idle.iterator();
    while (kept.hasNext()) {
      Allocation allocation = kept.next();
      if (allocation.size() == bytes && allocation.label().equals(label)) {
        kept.remove();
        idleBytes -= bytes;
        RawMemory.fill(allocation.address(), bytes, (byte) 0);
        return allocation;
      }
    }
    return fabric.memory().allocate(MemoryKind.SCRATCH, locus, bytes, label);
  }

  /** Takes memory back; the oldest goes where there is too much. */
  void give(Allocation allocation) {
    if (allocation.size() < FEWEST_BYTES || fabric.basis() != Basis.EMULATED) {
      fabric.memory().free(allocation);
      return;
    }
    idle.addLast(allocation);
    idleBytes += allocation.size();
    while (idleBytes > MOST_BYTES) {
      Allocation oldest = idle.removeFirst();
      idleBytes -= oldest.size();
      fabric.memory().free(oldest);
    }
  }

  /** Gives all that is idle back. */
  public void release() {
    idle.forEach(fabric.memory()::free);
    idle.clear();
    idleBytes = 0;
  }
}
