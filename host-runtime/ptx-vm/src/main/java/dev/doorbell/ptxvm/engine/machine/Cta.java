package dev.doorbell.ptxvm.engine.machine;

import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.ptxvm.engine.machine.VmThread.Fault;
import dev.doorbell.ptxvm.engine.machine.VmThread.Stepper;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One resident block: its warps, threads and barriers. */
public final class Cta {
  static final int BARRIERS = 16;

  final GridContext grid;
  final @Nullable Stepper stepper;

  /** Linear index in the grid. */
  public final int index;

  final Windows windows;

  /** Its threads, by linear index. */
  public final VmThread[] threads;

  private final Consumer<Cta> onEnd;
  private final @Nullable Barrier[] barriers = new Barrier[BARRIERS];
  private int live;
  private int runnable;

  private int ticks;

  Cta(
      GridContext grid,
      int index,
      Windows windows,
      @Nullable Op first,
      @Nullable Stepper stepper,
      Consumer<Cta> onEnd) {
    this.grid = grid;
    this.index = index;
    this.windows = windows;
    this.stepper = stepper;
    this.onEnd = onEnd;
    int count = grid.shape.threads();
    this.threads = new VmThread[count];
    this.live = count;
    this.runnable = count;
    Warp warp = new Warp(this, 0);
    for (int i = 0; i < count; i++) {
      if (i % Warp.SIZE == 0) {
        warp = new Warp(this, Math.min(Warp.SIZE, count - i));
      }
      threads[i] = new VmThread(this, warp, i, first);
      warp.lanes[i % Warp.SIZE] = threads[i];
    }
  }

  /** A step of a thread executed {@code count} instructions. */
  void executed(int count) {
    grid.executed += count;
    if (grid.counts() != null) {
      grid.executed(count);
    }
    tick();
  }

  /** Looks at the clock now and then; called by every step that may be one of very many. */
  void tick() {
    if ((++ticks & grid.clockMask) == 0) {
      grid.watchClock();
    }
  }

  String name() {
    return grid.shape.blockName(index);
  }

  public Barrier barrier(long id) {
    if (id < 0 || id >= BARRIERS) {
      throw new Fault("there is no barrier %d; a block has 0 to %d".formatted(id, BARRIERS - 1));
    }
    Barrier barrier = barriers[(int) id];
    if (barrier == null) {
      barrier = new Barrier((int) id);
      barriers[(int) id] = barrier;
    }
    return barrier;
  }

  /** The missing lanes of a partial last warp arrive with its first lane. */
  public int barrierWeight(VmThread t) {
    int missing = t.warp.lanes.length;
    return t.lane == 0 ? 1 + Warp.SIZE - missing : 1;
  }

  /** A thread began to wait. */
  public void blocked() {
    runnable--;
    requireProgress();
  }

  public void unblocked() {
    runnable++;
  }

  void exited(VmThread t) {
    live--;
    runnable--;
    grid.fabric.detach(t);
    t.warp.exited(t);
    if (live == 0) {
      grid.exclusively(() -> onEnd.accept(this));
    } else {
      requireProgress();
    }
  }

  /** Only threads of a block end each other's waits; when all wait, none of them ever will. */
  private void requireProgress() {
    if (runnable == 0 && live > 0) {
      StringBuilder what = new StringBuilder("no thread of block %s can go on".formatted(name()));
      for (Barrier barrier : barriers) {
        if (barrier != null && !barrier.isIdle()) {
          what.append("; ").append(barrier);
        }
      }
      int ended = threads.length - live;
      if (ended > 0) {
        what.append("; %d of its %d threads have exited".formatted(ended, threads.length));
      }
      grid.stuck(what + "; " + grid.waits());
    }
  }

  /** Ends its threads; those that have not exited are to be detached. */
  void stop(Collection<VmThread> stopped) {
    for (VmThread thread : threads) {
      if (!thread.exited) {
        thread.exited = true;
        stopped.add(thread);
      }
    }
  }

  /**
   * The native ranges of one resident block: shared memory first, then each thread's local memory.
   *
   * @param base first byte, where shared memory begins
   * @param sharedBytes of static and dynamic shared memory
   * @param localBytes of one thread
   * @param localOffset from base to the local memory of thread 0
   * @param bytes of everything
   */
  public record Windows(
      long base, long sharedBytes, long localBytes, long localOffset, long bytes) {
    /** Shared memory that the system keeps for itself and for cooperative groups, at offset 0. */
    public static final int RESERVED_BYTES = 1024;

    private static final int ALIGN = 256;

    static Windows of(long base, long sharedBytes, long localBytes, int threads) {
      long shared = up(sharedBytes);
      long local = up(localBytes);
      return new Windows(base, sharedBytes, local, shared, shared + local * threads);
    }

    Windows at(long address) {
      return new Windows(address, sharedBytes, localBytes, localOffset, bytes);
    }

    long shared() {
      return base;
    }

    long local(int thread) {
      return base + localOffset + thread * localBytes;
    }

    private static long up(long bytes) {
      return (bytes + ALIGN - 1) & -ALIGN;
    }
  }

  /** One of the sixteen barriers of a block (PTX ISA, {@code barrier}). */
  public static final class Barrier {
    public interface Participant {
      ThreadPort port();

      /**
       * The barrier that it waits at is complete.
       *
       * @param trueCount how many threads arrived with a true predicate
       * @param waiting how many threads waited
       */
      void barrierCompleted(int trueCount, int waiting);
    }

    private final int id;
    private final List<Participant> waiting = new ArrayList<>();
    private int expected;
    private int arrived;
    private int trueCount;
    private @Nullable Object meeting;

    Barrier(int id) {
      this.id = id;
    }

    /**
     * A thread arrives.
     *
     * @param count how many threads the instruction names; a partial last warp counts as a whole
     *     one
     * @param weight 1, or more for the thread that stands for the missing lanes of its warp
     * @param waits false for {@code arrive}
     */
    public void arrive(Participant t, int count, int weight, boolean waits, boolean predicate) {
      if (arrived != 0 && count != expected) {
        throw new Fault(
            "barrier %d: this thread expects %d threads, those before it expect %d"
                .formatted(id, count, expected));
      }
      expected = count;
      arrived += weight;
      meeting = t.port().arrive(meeting);
      trueCount += predicate ? 1 : 0;
      if (waits) {
        waiting.add(t);
      }
      if (arrived > expected) {
        throw new Fault(
            "barrier %d: %d threads arrive where %d are expected".formatted(id, arrived, expected));
      }
      if (arrived == expected) {
        complete();
      }
    }

    private void complete() {
      List<Participant> all = List.copyOf(waiting);
      int isTrue = trueCount;
      Object met = meeting;
      meeting = null;
      waiting.clear();
      arrived = 0;
      trueCount = 0;
      for (Participant thread : all) {
        thread.port().leave(met);
        thread.barrierCompleted(isTrue, all.size());
      }
    }

    @Override
    public String toString() {
      return "barrier %d: %d of %d threads have arrived".formatted(id, arrived, expected);
    }

    boolean isIdle() {
      return arrived == 0;
    }
  }
}
