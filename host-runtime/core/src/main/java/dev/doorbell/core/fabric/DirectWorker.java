package dev.doorbell.core.fabric;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.agent.Scheduler;
import java.lang.invoke.VarHandle;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A host thread beside the one that runs a {@link DirectFabric}: it steps agents of its own while
 * the fabric runs, and rests while it does not.
 *
 * <p>Whoever holds {@link #turn} may touch its agents: this thread for the length of a sweep,
 * others while it rests. While it runs, others {@linkplain #tell tell} it what to do. Doorbells
 * that its agents ring wait in {@link #doorbells}, because devices live on the fabric's thread.
 */
final class DirectWorker {
  private static final long NAP_NANOS = 50_000;
  private static final int IDLE_SWEEPS_BEFORE_NAP = 64;

  final DoorbellRing doorbells = new DoorbellRing();
  private final Scheduler scheduler = new Scheduler(0);
  private final Queue<Runnable> inbox = new ConcurrentLinkedQueue<>();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final ReentrantLock turn = new ReentrantLock();
  private final Thread thread;
  private volatile boolean running;
  private volatile boolean closed;

  DirectWorker(int number) {
    thread = Thread.ofPlatform().daemon().name("gpu-worker-" + number).unstarted(this::live);
    thread.start();
  }

  boolean isCurrent() {
    return Thread.currentThread().equals(thread);
  }

  /** Runs {@code task} between two sweeps; at once while the worker rests. */
  void tell(Runnable task) {
    if (isCurrent()) {
      task.run();
      return;
    }
    inbox.add(task);
    if (!running) {
      turn.lock();
      try {
        drain();
      } finally {
        turn.unlock();
      }
    }
  }

  void add(Agent agent) {
    scheduler.add(agent);
  }

  void remove(Agent agent) {
    scheduler.remove(agent);
  }

  /** Starts sweeping. */
  void resume() {
    running = true;
    LockSupport.unpark(thread);
  }

  /** Stops sweeping; {@link #isResting} is true when the last sweep is over. */
  void pause() {
    running = false;
  }

  boolean isResting() {
    if (turn.tryLock()) {
      turn.unlock();
      return true;
    }
    return false;
  }

  /** Returns what an agent threw, once. */
  @Nullable Throwable takeFailure() {
    return failure.getAndSet(null);
  }

  void close() {
    closed = true;
    LockSupport.unpark(thread);
  }

  private void live() {
    int idle = 0;
    while (!closed) {
      if (!running) {
        LockSupport.park(this);
        continue;
      }
      idle = sweep() == 0 ? idle + 1 : 0;
      if (idle > IDLE_SWEEPS_BEFORE_NAP) {
        LockSupport.parkNanos(this, NAP_NANOS);
      }
    }
  }

  private int sweep() {
    turn.lock();
    try {
      drain();
      return running ? scheduler.sweep() : 0;
    } catch (RuntimeException | Error e) {
      failure.compareAndSet(null, e);
      running = false;
      return 0;
    } finally {
      turn.unlock();
    }
  }

  private void drain() {
    for (Runnable task = inbox.poll(); task != null; task = inbox.poll()) {
      task.run();
    }
  }

  /**
   * Stores to device registers on their way from one host thread to another, in order: one writes,
   * one takes.
   *
   * <p>Each is four longs: address, width in bytes, low and high value. What one thread writes
   * often lies two cache lines away from what the other does, and each looks at the other's index
   * only when it has to: a doorbell then costs one line on its way.
   */
  static final class DoorbellRing {
    private static final int CAPACITY = 1024;
    private static final int FIELDS = 4;

    /** Longs in two cache lines; processors fetch them in pairs. */
    private static final int APART = 16;

    private static final int WRITTEN = APART;

    /** The writer's own, in its line: what {@link #TAKEN} was when it last looked. */
    private static final int SEEN = WRITTEN + 1;

    private static final int TAKEN = 3 * APART;

    private final long[] stores = new long[CAPACITY * FIELDS];
    private final AtomicLongArray indices = new AtomicLongArray(5 * APART);

    /** Receiver of stores. */
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
      if (to == from) {
        return 0;
      }
      long index = from;
      try {
        while (index < to) {
          int at = (int) (index & (CAPACITY - 1)) * FIELDS;
          target.store(stores[at], (int) stores[at + 1], stores[at + 2], stores[at + 3]);
          index++;
        }
      } finally {
        indices.setRelease(TAKEN, index); // those behind a store that is refused stay
      }
      VarHandle.acquireFence();
      return (int) (to - from);
    }
  }
}
