package dev.doorbell.ptxvm.engine;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.Locus;
import org.jspecify.annotations.Nullable;

/**
 * The host thread on which blocks of a grid live: all threads of a block are stepped there, so that
 * shared memory, barriers and warps need no care. What concerns the whole grid is told to the
 * fabric's thread.
 */
final class Home {
  private final Fabric fabric;
  private final @Nullable DirectFabric direct;
  private final int worker;

  /** Instructions that the grid's threads have executed here; written here alone. */
  long executed;

  /** On {@code worker}; 0 is the fabric's own thread, and the only one that most fabrics have. */
  Home(Fabric fabric, int worker) {
    this.fabric = fabric;
    this.direct = worker > 0 && fabric instanceof DirectFabric several ? several : null;
    this.worker = worker;
  }

  /** A thread's port. On the fabric's own thread it is stepped from now on, else when settled. */
  ThreadPort port(Locus locus, VmThread thread) {
    long block = thread.cta.grid.number() << 32 | thread.cta.index;
    return direct == null ? fabric.attachThread(locus, block, thread) : direct.port(worker);
  }

  /** All threads of the block exist: they may be stepped. */
  void settle(VmThread[] threads) {
    if (direct != null) {
      DirectFabric there = direct;
      there.tell(
          worker,
          () -> {
            for (VmThread thread : threads) {
              if (!thread.exited) {
                there.add(thread, worker);
              }
            }
          });
    }
  }

  void detach(VmThread thread) {
    if (direct == null) {
      fabric.detach(thread);
    } else {
      direct.remove(thread, worker);
    }
  }

  /** Runs {@code task} where the grid lives. */
  void tellGrid(Runnable task) {
    if (direct == null) {
      task.run();
    } else {
      direct.tell(0, task);
    }
  }

  /** Runs {@code task} where the block lives. */
  void tellBlock(Runnable task) {
    if (direct == null) {
      task.run();
    } else {
      direct.tell(worker, task);
    }
  }
}
