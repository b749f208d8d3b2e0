package dev.doorbell.ptxvm.engine.machine;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.Locus;
import org.jspecify.annotations.Nullable;

/**
 * The host thread on which blocks of a grid run: all threads of a block are stepped there, so that
 * shared memory, barriers and warps need no synchronisation. What concerns the whole grid is done
 * on the fabric's thread.
 */
final class HostThread {
  private final Fabric fabric;
  private final Locus locus;
  private final @Nullable DirectFabric direct;
  private final int worker;

  /** Instructions that the grid's threads have executed here; written here alone. */
  long executed;

  /**
   * The host thread {@code worker}; 0 is the fabric's own, and the only one of most fabrics.
   *
   * @param locus of the GPU
   */
  HostThread(Fabric fabric, Locus locus, int worker) {
    this.fabric = fabric;
    this.locus = locus;
    this.direct = worker > 0 && fabric instanceof DirectFabric several ? several : null;
    this.worker = worker;
  }

  /** A thread's port. On the fabric's own thread it is stepped from now on, else when added. */
  ThreadPort port(long block, Agent thread) {
    return direct == null ? fabric.attachThread(locus, block, thread) : direct.port(locus, worker);
  }

  /** Steps a thread from now on; called on this host thread. */
  void add(Agent thread) {
    if (direct != null) {
      direct.add(thread, worker);
    }
  }

  void detach(Agent thread) {
    if (direct == null) {
      fabric.detach(thread);
    } else {
      direct.remove(thread, worker);
    }
  }

  /** Runs {@code task} on the fabric's thread, where the grid is managed. */
  void onGridThread(Runnable task) {
    if (direct == null) {
      fabric.exclusively(locus, task);
    } else {
      direct.tell(0, task);
    }
  }

  /** Runs {@code task} on this host thread. */
  void onThisThread(Runnable task) {
    if (direct == null) {
      task.run();
    } else {
      direct.tell(worker, task);
    }
  }
}
