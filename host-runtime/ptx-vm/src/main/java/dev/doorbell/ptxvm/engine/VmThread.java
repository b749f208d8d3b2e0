package dev.doorbell.ptxvm.engine;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.agent.SourcePlace;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.AccessFault;
import org.jspecify.annotations.Nullable;

/** One CUDA thread: an agent with a register file, a place in the code and a port to memory. */
final class VmThread implements Agent {
  final Cta cta;
  final Warp warp;
  final int lane;
  final int index;
  final ThreadPort port;

  /** The register file. */
  final long[] r;

  /** What to execute next. */
  @Nullable Op op;

  /** Where the frame of the running function begins in the local window. */
  long frame;

  /** The carry flag of {@code add.cc} and its kin. */
  boolean carry;

  /** Native addresses and sizes of the windows. */
  final long localBase;

  final long localSize;
  final long sharedBase;
  final long sharedSize;
  final long scratchBase;
  final long scratchSize;

  /** Loads that are under way while the thread goes on; null where it waits for each. */
  final @Nullable LoadsAhead ahead;

  /** True when the port performs accesses to shared memory. */
  final boolean portedShared;

  final long parameterBase;
  final long parameterSize;

  /** Instructions left in this step, and how many were when the port last heard of it. */
  int left;

  private int mark;

  /** Set while the thread waits at a barrier or a warp operation; nobody steps it then. */
  boolean waiting;

  /** Set when what it waited for came; the waiting instruction clears it and takes the result. */
  boolean released;

  /** What it brings to a barrier or a warp operation, and what it gets. */
  int mask;

  long offered;
  long offeredControl;
  long result;
  boolean resultFlag;

  /** What it did since its loop last came round. */
  final Polling polling = new Polling();

  /** How far an instruction of several accesses has come; 0 between instructions. */
  long progress;

  /** Steps that it may sit out while the cells that it polls stay as they are. */
  int dozes;

  /** Times it asked in vain for the other lanes to arrive at {@code activemask}. */
  int patience;

  /**
   * True when the others waited at {@code activemask} in vain for it, and it has not come since.
   */
  boolean stray;

  /** The meeting up to which it runs by itself while its warp waits there; else null. */
  @Nullable MeetingOp until;

  /** True from a failed polling round, or a sleep, until it runs on. */
  boolean idle;

  final CallStack calls = new CallStack();
  boolean exited;

  VmThread(Cta cta, Warp warp, int index, Windows windows) {
    Grid grid = cta.grid;
    this.cta = cta;
    this.warp = warp;
    this.index = index;
    this.lane = index & (Warp.SIZE - 1);
    this.localBase = windows.local(index);
    this.localSize = windows.localBytes();
    this.sharedBase = windows.shared();
    this.sharedSize = windows.sharedBytes();
    this.parameterBase = grid.parameterBase();
    this.parameterSize = grid.code.parameters().bytes();
    this.r = grid.code.registers(this);
    this.op = grid.code.first();
    this.port = cta.home.port(grid.locus, this);
    this.ahead = grid.instrument() == null ? LoadsAhead.of(port, r.length) : null;
    this.portedShared = port.takesShared() && grid.code.ordersSharedByBarriers();
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
    if (dozes > 0) {
      dozes = polling.unchanged(cta.grid.memory) ? dozes - 1 : 0;
      if (dozes > 0) {
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
    Instrument instrument = cta.grid.instrument();
    if (instrument != null) {
      int done = instrument.step(this, current, budget);
      account();
      cta.executed(done);
      return done;
    }
    try {
      int[] counts = cta.grid.code.counts;
      while (true) {
        if (counts != null) {
          counts[current.place]++;
        }
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
      Op at = op;
      cta.grid.fail(
          this,
          current instanceof Entry && at != null ? at : current,
          String.valueOf(e.getMessage()));
    }
    account();
    int done = budget - left;
    cta.executed(done);
    return done;
  }

  /**
   * Runs by itself up to a meeting at which the rest of its warp waits.
   *
   * @return false when it waits, polls, ends or takes long before that
   */
  boolean runTo(MeetingOp meeting) {
    until = meeting;
    Op current = op;
    try {
      while (current != null && left > 0) {
        Op following = current.execute(this, r);
        left--;
        if (following != null) {
          op = following;
        }
        current = following;
      }
    } catch (AccessFault | Fault e) {
      op = current instanceof Entry && op != null ? op : current;
      warp.acting = this;
      throw e;
    }
    boolean arrived = until == null;
    until = null;
    return arrived;
  }

  /** It has come where its warp waits, and has not executed {@code meeting} yet. */
  @Nullable Op arrive(MeetingOp meeting) {
    until = null;
    op = meeting;
    return null;
  }

  /** Tells the port what was executed since it last heard of it. */
  void account() {
    int executed = mark - left;
    if (executed != 0) {
      mark = left;
      port.executed(executed);
    }
  }

  /** The port parked the access of {@code same}: issue it again in the next step. */
  @Nullable Op park(Op same) {
    left++;
    op = same;
    return null;
  }

  /** Gives way to the other agents and goes on with {@code following}. */
  @Nullable Op giveWay(@Nullable Op following) {
    idle = true;
    op = following;
    return null;
  }

  /** Waits at a barrier or warp operation; {@link #release} ends it. */
  @Nullable Op await(Op same) {
    op = same;
    waiting = true;
    cta.blocked();
    return null;
  }

  /** What the thread waited for came. */
  void release() {
    released = true;
    if (waiting) {
      waiting = false;
      cta.unblocked();
      cta.grid.fabric.wake(this);
    }
  }

  @Nullable Op exit() {
    account();
    exited = true;
    op = null;
    cta.exited(this);
    return null;
  }

  /** True when a generic address lies in this block's windows. */
  boolean inWindows(long address) {
    return isScratch(address)
        || Long.compareUnsigned(address - sharedBase, scratchBase - sharedBase) < 0;
  }

  /** True when a generic address lies in windows that the fabric is not asked about. */
  boolean isScratch(long address) {
    return Long.compareUnsigned(address - scratchBase, scratchSize) < 0;
  }

  /** Notes a load from shared memory; what a thread reads of its own tells nothing. */
  void loadedScratch(long address, long value) {
    if (Long.compareUnsigned(address - sharedBase, sharedSize) < 0) {
      polling.loaded(address, value);
    }
  }

  /** Checks a generic access to the block's windows. */
  void checkScratch(String what, long address, int bytes) {
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

  void checkAligned(String what, long address, int bytes) {
    if ((address & (bytes - 1)) != 0) {
      throw misaligned(what, address, bytes);
    }
  }

  Fault misaligned(String what, long address, int bytes) {
    return new Fault(
        "misaligned %s of %d bytes at 0x%x: the address must be a multiple of %d; %s"
            .formatted(
                what, bytes, address, bytes, cta.grid.fabric.memory().describe(address, bytes)));
  }

  @Override
  public @Nullable Object place() {
    return op;
  }

  @Override
  public @Nullable SourcePlace describe(Object place) {
    return place instanceof Op at ? cta.grid.code.source(at) : null;
  }

  /** {@code block (0,0,0) thread (5,0,0)}. */
  @Override
  public String name() {
    return "block %s thread %s".formatted(cta.name(), cta.grid.shape.threadName(index));
  }

  @Override
  public String where() {
    Op at = op;
    return "%s of kernel %s, %s"
        .formatted(
            name(), cta.grid.code.name(), at == null ? "exited" : cta.grid.code.describe(at));
  }
}
