package dev.doorbell.ptxvm.engine.machine;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.agent.NextPlaces;
import dev.doorbell.core.agent.SourcePlace;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.ptxvm.engine.machine.Cta.Barrier;
import dev.doorbell.ptxvm.engine.machine.Cta.Windows;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** One CUDA thread: an agent with a register file, a place in the code and a port to memory. */
public final class VmThread implements Agent, Barrier.Participant {
  public final Cta cta;
  public final GridContext grid;
  public final Warp warp;
  public final int lane;
  public final int index;
  public final ThreadPort port;

  /** The register file. */
  public long[] r;

  /** Next operation. */
  public @Nullable Op op;

  /** Offset of the running function's frame in the local window. */
  public long frame;

  /** The carry flag of {@code add.cc} and its kin. */
  public boolean carry;

  /** Native addresses and sizes of the windows. */
  public final long localBase;

  public final long localSize;
  public final long sharedBase;
  public final long sharedSize;
  public final long scratchBase;
  public final long scratchSize;

  /** Loads that are under way while the thread goes on; null where it waits for each. */
  public final @Nullable LoadScoreboard scoreboard;

  /** True when the port performs accesses to shared memory. */
  public final boolean portedShared;

  public final long parameterBase;
  public final long parameterSize;

  /** Instructions left in this step, and how many were when the port last heard of it. */
  public int left;

  private int mark;

  /** Picoseconds that instructions waited for each other since the port last heard of it. */
  public long stalled;

  /** Set while {@link #op} is an access that parked: it has waited for what it needs already. */
  private boolean repeats;

  /** Set while the thread waits at a barrier or a warp operation; it is not stepped then. */
  public boolean waiting;

  /** Set when what it waited for came; the waiting instruction clears it and takes the result. */
  public boolean released;

  /** Values that it brings to a barrier or a warp operation, and gets there. */
  public int mask;

  public long offered;
  public long offeredControl;
  public long result;
  public boolean resultFlag;

  /** Accesses since its loop last came round. */
  public final Polling polling = new Polling();

  /** For a port that judges progress: the loop in which it may spin; else null. */
  public final @Nullable Spins spins;

  /** Progress of an instruction of several accesses; 0 between instructions. */
  public long progress;

  private long @Nullable [] partial;

  /** Steps that it may sit out while the cells that it polls stay as they are. */
  public int pollsToSkip;

  /** Times it asked in vain for the other lanes to arrive at {@code activemask}. */
  public int activeMaskWaits;

  /**
   * True when the others waited at {@code activemask} in vain for it, and it has not come since.
   */
  public boolean leftBehind;

  /** The operation up to which it runs by itself while its warp waits there; else null. */
  public @Nullable ConvergenceOp until;

  /** True from a failed polling round, or a sleep, until it runs on. */
  public boolean idle;

  public final CallStack calls = new CallStack();
  public boolean exited;

  VmThread(Cta cta, Warp warp, int index, @Nullable Op first) {
    this.cta = cta;
    this.grid = cta.grid;
    this.warp = warp;
    this.index = index;
    this.lane = index & (Warp.SIZE - 1);
    Windows windows = cta.windows;
    this.localBase = windows.local(index);
    this.localSize = windows.localBytes();
    this.sharedBase = windows.shared();
    this.sharedSize = windows.sharedBytes();
    this.parameterBase = grid.parameterBase;
    this.parameterSize = grid.image.parameters().bytes();
    this.r = grid.image.registers(grid, cta.index, index);
    this.op = first;
    this.port = grid.fabric.attachThread(grid.locus, grid.number << 32 | cta.index, this);
    boolean ahead = cta.stepper == null && !grid.image.growsLate();
    int tickets = ahead ? port.loadsAhead() : 0;
    this.scoreboard =
        tickets == 0
            ? null
            : new LoadScoreboard(port, polling, r, grid.image.written(), this::account, tickets);
    this.spins = port.judgesProgress() ? new Spins() : null;
    this.portedShared = port.takesShared();
    long unported = portedShared ? windows.localOffset() : 0;
    this.scratchBase = windows.base() + unported;
    this.scratchSize = windows.bytes() - unported;
  }

  @Override
  public int step(int budget) {
    if (waiting || exited) {
      cta.tick();
      return 0;
    }
    if (warp.lanesApart && !warp.lets(this)) {
      return 0;
    }
    if (pollsToSkip > 0) {
      pollsToSkip = polling.unchanged(grid.memory) ? pollsToSkip - 1 : 0;
      if (pollsToSkip > 0) {
        cta.tick();
        return 0;
      }
    }
    left = budget;
    mark = budget;
    idle = false;
    Op current = op;
    if (current == null) {
      return 0;
    }
    repeat(current);
    try {
      if (cta.stepper == null) {
        run(current);
      } else {
        cta.stepper.step(this, current);
      }
    } catch (RuntimeException e) {
      // A fault of the VM: its reporter adds the instruction.
      e.addSuppressed(new Fault(where()));
      throw e;
    }
    account();
    if (warp.lanesApart && (waiting || exited)) {
      warp.passOn();
    }
    int done = budget - left;
    cta.executed(done);
    return done;
  }

  private void repeat(Op current) {
    if (repeats) {
      repeats = false;
      stalled -= current.stall;
    }
  }

  private void run(Op first) {
    Op current = first;
    try {
      int[] counts = grid.counts();
      while (true) {
        // A function that was linked in this step counts from the next one on.
        if (counts != null && current.place < counts.length) {
          counts[current.place]++;
        }
        stalled += current.stall;
        Op following = current.execute(this, r);
        left--;
        if (following == null) {
          break;
        }
        current = following;
        if (left <= 0) {
          op = current;
          break;
        }
      }
    } catch (AccessFault | Fault e) {
      fail(current, String.valueOf(e.getMessage()));
    } catch (RuntimeException e) {
      op = current;
      throw e;
    }
  }

  /** Stops the kernel for an error of this thread. */
  public void fail(Op at, String what) {
    waiting = true; // it takes no further step
    grid.threadFailed("%s\n  at %s, %s".formatted(what, grid.image.describe(at.place), name()));
  }

  /**
   * Runs by itself up to an operation at which the rest of its warp waits.
   *
   * @return false when it waits, polls, ends or takes long before that
   */
  public boolean runTo(ConvergenceOp target) {
    until = target;
    if (op != null) {
      repeat(op);
    }
    for (Op current = op; current != null && left > 0; ) {
      Op following;
      stalled += current.stall;
      try {
        following = current.execute(this, r);
      } catch (AccessFault | Fault e) {
        op = current;
        warp.acting = this;
        throw e;
      }
      left--;
      if (following != null) {
        op = following;
      }
      current = following;
    }
    boolean arrived = until == null;
    until = null;
    return arrived;
  }

  /** It has come where its warp waits, and has not executed {@code convergence} yet. */
  public @Nullable Op arrive(ConvergenceOp convergence) {
    until = null;
    op = convergence;
    return null;
  }

  /** Tells the port what was executed since it last heard of it. */
  public void account() {
    int executed = mark - left;
    if (executed != 0) {
      mark = left;
      port.executed(executed);
    }
    if (stalled != 0) {
      port.stalled(stalled);
      stalled = 0;
    }
  }

  /** Gets slots for functions that were linked since it began. */
  public void grow() {
    r = grid.image.grown(r, grid, cta.index, index);
  }

  /** Executes {@code same} once more in its next step. */
  public @Nullable Op again(Op same) {
    op = same;
    return null;
  }

  /** The port parked the access of {@code same}: issue it again in the next step. */
  public @Nullable Op park(Op same) {
    left++;
    repeats = true;
    op = same;
    return null;
  }

  /** Gives way to the other agents and goes on with {@code following}. */
  public @Nullable Op giveWay(@Nullable Op following) {
    idle = true;
    op = following;
    return null;
  }

  /** Waits at a barrier or warp operation; {@link #release} ends it. */
  public @Nullable Op await(Op same) {
    op = same;
    waiting = true;
    cta.blocked();
    return null;
  }

  @Override
  public ThreadPort port() {
    return port;
  }

  @Override
  public void barrierCompleted(int trueCount, int participants) {
    result = trueCount;
    offeredControl = participants;
    release();
  }

  public void release() {
    released = true;
    if (waiting) {
      waiting = false;
      cta.unblocked();
      if (!port.wakeAgent()) {
        grid.fabric.wake(this);
      }
    }
  }

  public @Nullable Op exit() {
    account();
    exited = true;
    op = null;
    cta.exited(this);
    return null;
  }

  /** True when a generic address lies in this block's windows. */
  public boolean inWindows(long address) {
    return isScratch(address)
        || Long.compareUnsigned(address - sharedBase, scratchBase - sharedBase) < 0;
  }

  /** True when a generic address lies in windows that the fabric is not asked about. */
  public boolean isScratch(long address) {
    return Long.compareUnsigned(address - scratchBase, scratchSize) < 0;
  }

  /** Returns 8 values that an instruction of several accesses keeps between them. */
  public long[] partial() {
    if (partial == null) {
      partial = new long[8];
    }
    return partial;
  }

  /** Records a load from shared memory; loads of the thread's own stores do not count. */
  public void loadedScratch(long address, long value) {
    if (Long.compareUnsigned(address - sharedBase, sharedSize) < 0) {
      polling.loaded(address, value);
    }
  }

  /** Checks a generic access to the block's windows. */
  public void checkScratch(String what, long address, int bytes) {
    checkAligned(what, address, bytes);
    boolean inShared = address - sharedBase <= sharedSize - bytes;
    long local = address - localBase;
    if (!inShared && (local < 0 || local > localSize - bytes)) {
      throw new Fault(
          "%s of %d bytes at 0x%x: neither in the shared memory of its block (%d bytes) nor in the"
                  .formatted(what, bytes, address, sharedSize)
              + " local memory of this thread");
    }
  }

  public void checkAligned(String what, long address, int bytes) {
    if ((address & (bytes - 1)) != 0) {
      throw misaligned(what, address, bytes);
    }
  }

  public Fault misaligned(String what, long address, int bytes) {
    return new Fault(
        "misaligned %s of %d bytes at 0x%x: the address must be a multiple of %d; %s"
            .formatted(what, bytes, address, bytes, grid.fabric.memory().describe(address, bytes)));
  }

  @Override
  public @Nullable Object place() {
    return op;
  }

  @Override
  public @Nullable SourcePlace describe(Object place) {
    return place instanceof Op at ? grid.image.source(at.place) : null;
  }

  @Override
  public NextPlaces following(Object place) {
    return place instanceof Op at
        ? new NextPlaces(at.following(), grid.image.instruction(at.place).line(), at.kind())
        : NextPlaces.NONE;
  }

  /** {@code block (0,0,0) thread (5,0,0)}. */
  @Override
  public String name() {
    return "block %s thread %s".formatted(cta.name(), grid.shape.threadName(index));
  }

  @Override
  public String where() {
    Op at = op;
    return "%s of kernel %s, %s"
        .formatted(
            name(), grid.image.name(), at == null ? "exited" : grid.image.describe(at.place));
  }

  /** Steps the threads of a grid in place of the interpreter's own loop. */
  public interface Stepper {
    /**
     * Executes instructions from {@code first} on, as {@link VmThread#step} does, and counts them
     * off {@link VmThread#left}.
     */
    void step(VmThread t, Op first);
  }

  /** The registers of a thread at the end of its last round of a loop that changes nothing else. */
  @SuppressWarnings("ReferenceEquality") // operations are compared by identity
  public static final class Spins {
    private @Nullable Object branch;
    private long[] registers = {};

    /**
     * A round ends at {@code closing}. True when it left all registers as the one before did.
     *
     * @param counters slots that are not compared
     */
    public boolean sameRound(Object closing, long[] now, int[] counters) {
      long[] compared = now.clone();
      for (int slot : counters) {
        compared[slot] = 0;
      }
      boolean same = branch == closing && Arrays.equals(registers, compared);
      branch = closing;
      registers = compared;
      return same;
    }

    /** The loop ended: when it is entered again, its first round is compared with none before. */
    public void ended() {
      branch = null;
    }
  }

  /** Return places of a thread, and the registers that recursive functions must find again. */
  public static final class CallStack {
    private static final Op[] NONE = {};
    private static final long[] EMPTY = {};

    private Op[] returns = NONE;
    private long[] frames = EMPTY;
    private long[] saved = EMPTY;
    private int depth;
    private int savedCount;

    public boolean isEmpty() {
      return depth == 0;
    }

    public int depth() {
      return depth;
    }

    /**
     * A function is called.
     *
     * @param returning what is executed when it returns; it calls {@link #pop}
     * @param frame the caller's frame
     */
    public void push(Op returning, long frame) {
      if (depth == returns.length) {
        returns = Arrays.copyOf(returns, depth * 2 + 4);
        frames = Arrays.copyOf(frames, depth * 2 + 4);
      }
      returns[depth] = returning;
      frames[depth] = frame;
      depth++;
    }

    /** Returns the operation that the running function returns to. */
    public Op top() {
      return returns[depth - 1];
    }

    /** Leaves the running function; returns the frame of its caller. */
    public long pop() {
      return frames[--depth];
    }

    /** Saves the slots of a function that may run already. */
    public void save(long[] r, int first, int last) {
      int count = last - first;
      if (savedCount + count > saved.length) {
        saved = Arrays.copyOf(saved, Math.max(saved.length * 2, savedCount + count));
      }
      System.arraycopy(r, first, saved, savedCount, count);
      savedCount += count;
    }

    public void restore(long[] r, int first, int last) {
      savedCount -= last - first;
      System.arraycopy(saved, savedCount, r, first, last - first);
    }
  }

  /** A thread did something that stops its kernel. The message says what; where is added later. */
  public static final class Fault extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public Fault(String message) {
      super(message, null, false, false);
    }
  }
}
