package dev.doorbell.ptxjit.warp;

import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.ptxvm.engine.machine.ConvergenceOp;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.engine.machine.VmThread.Fault;
import dev.doorbell.ptxvm.engine.machine.Warp;
import dev.doorbell.ptxvm.engine.ops.control.WarpOps.WarpOp;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A warp whose lanes go on together. One of them, the leader, executes for all; the others wait.
 *
 * <p>A lane that has to do what the others do not, and that may take long, goes away: its registers
 * go to its own file, and it is let run by itself when the others have come to where lanes meet. If
 * it does not get there at once, the warp diverges: from then on each lane is by itself, as if they
 * had never been together, so whatever one waits for from another, it gets.
 */
@SuppressWarnings("ReferenceEquality") // operations and threads are compared by identity
final class CompiledWarp {
  /** With fewer lanes each is quicker by itself. */
  static final int FEWEST = 4;

  /** Rounds of a loop that may poll in one step. */
  private static final int MOST_ROUNDS = 8;

  private static final int MOST_BUDGET = 4096;
  private static final int LANE_BUDGET = 2048;

  /** A warp that diverges after fewer instructions a lane gained nothing. */
  private static final int WORTHWHILE = 48;

  private static final int MOST_DOUBLINGS = 10;

  private final Warp warp;
  final VmThread[] lanes;
  long[] columns = new long[0];
  long[] uniforms = new long[0];

  /** Lanes that take part, those of them that are together, and how many these are. */
  int live;

  int present;
  int count;

  /** Those that went away and are to come back at the next meeting. */
  int away;

  /** Instructions left in this step, of all lanes together. */
  int left;

  private WarpCode code = NONE;
  private int held;
  private int rounds;
  private int budget;
  private long sinceEntry;
  private VmThread leader;
  private int earlyDivergences;
  private int skippedConvergences;

  private static final WarpCode NONE =
      new WarpCode() {
        @Override
        int run(CompiledWarp warp, VmThread leader, int chunk) {
          return LEFT;
        }
      };

  /** The state of a warp's lanes together. */
  static CompiledWarp of(Warp warp) {
    if (warp.compiledState instanceof CompiledWarp known) {
      return known;
    }
    CompiledWarp created = new CompiledWarp(warp);
    warp.compiledState = created;
    return created;
  }

  private CompiledWarp(Warp warp) {
    this.warp = warp;
    this.lanes = warp.lanes;
    this.leader = warp.lanes[0];
  }

  /**
   * Returns true if the lanes should go on together now; a warp that diverged often sits some out.
   */
  boolean isWilling() {
    if (skippedConvergences > 0) {
      skippedConvergences--;
      return false;
    }
    return true;
  }

  /** All lanes are at a meeting: {@code first} executes for all from now on. */
  void claim(VmThread first, int members) {
    leader = first;
    live = members;
    for (int rest = live; rest != 0; rest &= rest - 1) {
      int k = Integer.numberOfTrailingZeros(rest);
      if (lanes[k] != first) {
        hold(k);
      }
    }
  }

  @Nullable Op step(WarpEntry entry) {
    if (entry.convergence != null && !enter(entry, entry.convergence)) {
      return entry.convergence;
    }
    budget = Math.min(leader.left, MOST_BUDGET) * count;
    left = budget;
    rounds = 0;
    int outcome;
    try {
      outcome = code.run(this, leader, entry.chunk);
    } catch (AccessFault | Fault e) {
      VmThread failed = warp.acting == null ? leader : warp.acting;
      Op at = failed.op;
      failed.fail(at == null ? entry : at, String.valueOf(e.getMessage()));
      leader.waiting = true;
      return null;
    }
    int done = budget - left;
    sinceEntry += done;
    leader.left -= done - 1; // the thread's own loop takes one off
    if (outcome != WarpCode.LEFT) {
      leader.op = code.entries[-2 - outcome];
    }
    return null;
  }

  /** The lanes have met: their registers go where all can get at them. */
  private boolean enter(WarpEntry entry, ConvergenceOp convergence) {
    code = entry.code;
    if (columns.length < code.columns * WarpCode.COLUMN) {
      columns = new long[code.columns * WarpCode.COLUMN];
    }
    if (uniforms.length < code.uniforms) {
      uniforms = new long[code.uniforms];
    }
    WarpCode.Crossing crossing = code.crossings[entry.crossing];
    if (!loadUniforms(crossing)) {
      code.mismatches++;
      divergedEarly();
      freeAll();
      convergence.completeApart(lanes, live);
      return false;
    }
    for (int rest = live; rest != 0; rest &= rest - 1) {
      int k = Integer.numberOfTrailingZeros(rest);
      load(crossing, k);
      lanes[k].op = entry; // whatever it was at, it is there no more
      lanes[k].released = false;
      lanes[k].activeMaskWaits = 0;
    }
    present = live;
    count = Integer.bitCount(live);
    away = 0;
    sinceEntry = 0;
    return true;
  }

  private boolean loadUniforms(WarpCode.Crossing crossing) {
    int[] slots = crossing.slots();
    int[] locations = crossing.locations();
    for (int e = 0; e < slots.length; e++) {
      if (locations[e] < 0) {
        uniforms[~locations[e]] = leader.r[slots[e]];
      }
    }
    for (int rest = live; rest != 0; rest &= rest - 1) {
      if (!agrees(crossing, Integer.numberOfTrailingZeros(rest))) {
        return false;
      }
    }
    return true;
  }

  /**
   * Returns true if a lane has the same values as the others where the code takes that for granted.
   */
  private boolean agrees(WarpCode.Crossing crossing, int lane) {
    long[] r = lanes[lane].r;
    int[] slots = crossing.slots();
    int[] locations = crossing.locations();
    boolean same = true;
    for (int e = 0; e < slots.length; e++) {
      same &= locations[e] >= 0 || uniforms[~locations[e]] == r[slots[e]];
    }
    return same;
  }

  private void load(WarpCode.Crossing crossing, int lane) {
    long[] r = lanes[lane].r;
    int[] slots = crossing.slots();
    int[] locations = crossing.locations();
    for (int e = 0; e < slots.length; e++) {
      if (locations[e] >= 0) {
        columns[locations[e] + lane] = r[slots[e]];
      }
    }
  }

  private void save(WarpCode.Crossing crossing, int lane) {
    long[] r = lanes[lane].r;
    int[] slots = crossing.slots();
    int[] locations = crossing.locations();
    for (int e = 0; e < slots.length; e++) {
      r[slots[e]] = locations[e] >= 0 ? columns[locations[e] + lane] : uniforms[~locations[e]];
    }
  }

  private void hold(int lane) {
    held |= 1 << lane;
    VmThread t = lanes[lane];
    if (!t.waiting) {
      t.waiting = true;
      t.cta.blocked();
    }
  }

  private void free(int lane) {
    if ((held >>> lane & 1) != 0) {
      held &= ~(1 << lane);
      lanes[lane].waiting = false;
      lanes[lane].cta.unblocked();
    }
  }

  private void freeAll() {
    for (int rest = held; rest != 0; rest &= rest - 1) {
      free(Integer.numberOfTrailingZeros(rest));
    }
  }

  /** Each lane goes on by itself; those that are together at {@code crossing}. Called by code. */
  int diverge(int crossing) {
    WarpCode.Crossing at = code.crossings[crossing];
    for (int rest = present; rest != 0; rest &= rest - 1) {
      int k = Integer.numberOfTrailingZeros(rest);
      save(at, k);
      lanes[k].op = at.op();
    }
    freeAll();
    present = 0;
    away = 0;
    if (sinceEntry + budget - left < (long) WORTHWHILE * count) {
      divergedEarly();
    } else {
      earlyDivergences = 0;
    }
    return WarpCode.LEFT;
  }

  private void divergedEarly() {
    skippedConvergences = 1 << earlyDivergences;
    earlyDivergences = Math.min(earlyDivergences + 1, MOST_DOUBLINGS);
  }

  /** A lane goes away; what it wrote in this turn is in its columns. Called by code. */
  void leave(int lane, int crossing) {
    WarpCode.Crossing at = code.crossings[crossing];
    save(at, lane);
    lanes[lane].op = at.op();
    present &= ~(1 << lane);
    away |= 1 << lane;
    count--;
  }

  /**
   * All who went away have to come to {@code convergence}, where the others are. Called by code.
   *
   * @return false when the warp has diverged
   */
  boolean gather(int crossing, Op convergence) {
    freeAll(); // or it would look as if nobody could go on when one of them ends
    boolean all = true;
    WarpCode.Crossing at = code.crossings[crossing];
    for (int rest = away; rest != 0; rest &= rest - 1) {
      int k = Integer.numberOfTrailingZeros(rest);
      all &= comes(k, (ConvergenceOp) convergence);
    }
    int back = away & ~warp.gone;
    live &= ~warp.gone;
    for (int rest = back; all && rest != 0; rest &= rest - 1) {
      all = agrees(at, Integer.numberOfTrailingZeros(rest));
    }
    if (!all || leader.exited) {
      diverge(crossing);
      return false;
    }
    for (int rest = back; rest != 0; rest &= rest - 1) {
      load(at, Integer.numberOfTrailingZeros(rest));
    }
    claim(leader, live);
    away = 0;
    present = live;
    count = Integer.bitCount(live);
    return true;
  }

  /** Lets a lane run by itself up to a meeting. */
  private boolean comes(int lane, ConvergenceOp convergence) {
    VmThread t = lanes[lane];
    int before = t.left;
    t.left = LANE_BUDGET;
    boolean there = t.runTo(convergence);
    left -= LANE_BUDGET - t.left;
    t.left = before;
    return there || t.exited;
  }

  /** True when the step is over: the budget is used up, or a loop came round often enough. */
  boolean isOver(boolean mayPoll) {
    return left <= 0 || (mayPoll && ++rounds >= MOST_ROUNDS);
  }

  /** Interrupts the warp at a chunk, or diverges it when lanes are away. Called by code. */
  int interrupt(int chunk, int crossing) {
    return away == 0 ? WarpCode.interruptedAt(chunk) : diverge(crossing);
  }

  /** Returns true if all who live are named by {@code mask}. */
  boolean areAll(int mask) {
    return (live & ~mask) == 0;
  }

  /** The same where each lane has a mask of its own. */
  boolean areAllIn(int column) {
    boolean all = true;
    for (int rest = live; rest != 0; rest &= rest - 1) {
      all &= areAll((int) columns[column + Integer.numberOfTrailingZeros(rest)]);
    }
    return all;
  }

  /** Lanes with something other than 0 in a column. */
  int ballot(int column) {
    int ballot = 0;
    for (int k = 0; k < lanes.length; k++) {
      ballot |= columns[column + k] != 0 ? 1 << k : 0;
    }
    return ballot & present;
  }

  /** The ballot of lanes that all have the same. */
  int ballotOfAll(long value) {
    return value != 0 ? live : 0;
  }

  long voteAll(int ballot) {
    return ballot == live ? 1 : 0;
  }

  long voteAny(int ballot) {
    return ballot != 0 ? 1 : 0;
  }

  long voteUni(int ballot) {
    return ballot == live || ballot == 0 ? 1 : 0;
  }

  long voteBallot(int ballot) {
    return ballot & 0xffffffffL;
  }

  /** Gives all lanes the same value in a column. */
  void fill(int column, long value) {
    Arrays.fill(columns, column, column + lanes.length, value);
  }

  /** Returns a condition: 0 or 1 for all, 2 where lanes differ. */
  int agreement(int column) {
    int ballot = ballot(column);
    return ballot == 0 ? 0 : ballot == present ? 1 : 2;
  }

  /** Returns what lane {@code by & 31} has in a column; see {@link #hasLane}. */
  long laneOf(int column, long by) {
    return columns[column + ((int) by & Warp.SIZE - 1)] & 0xffffffffL;
  }

  /** Returns true if the lane that all ask is there. */
  boolean hasLane(long by) {
    return (live >>> (int) by & 1) != 0;
  }

  /** A warp operation the way its own object does it. */
  void converge(Op op, int reads, int writes) {
    WarpOp convergence = (WarpOp) op;
    for (int rest = live; rest != 0; rest &= rest - 1) {
      int k = Integer.numberOfTrailingZeros(rest);
      save(code.crossings[reads], k);
      convergence.offer(lanes[k], lanes[k].r);
    }
    convergence.complete(lanes, live);
    WarpCode.Crossing results = code.crossings[writes];
    for (int rest = live; rest != 0; rest &= rest - 1) {
      int k = Integer.numberOfTrailingZeros(rest);
      convergence.take(lanes[k], lanes[k].r);
      load(results, k);
      for (int e = 0; e < results.slots().length; e++) {
        if (results.locations()[e] < 0) {
          uniforms[~results.locations()[e]] = lanes[k].r[results.slots()[e]];
        }
      }
    }
  }

  /**
   * Place where a warp goes on with all its lanes together: at an operation where they met, or
   * where it was interrupted. One lane executes it for all; the others wait meanwhile.
   */
  static final class WarpEntry extends Op {
    final WarpCode code;
    final int chunk;

    /** The operation where the lanes met, which is still to be done; null where interrupted. */
    final @Nullable ConvergenceOp convergence;

    /** Crossing of the values that lanes bring along; used with {@link #convergence} only. */
    final int crossing;

    WarpEntry(
        WarpCode code, int chunk, @Nullable ConvergenceOp convergence, int crossing, int place) {
      this.code = code;
      this.chunk = chunk;
      this.convergence = convergence;
      this.crossing = crossing;
      this.place = place;
    }

    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      return CompiledWarp.of(t.warp).step(this);
    }
  }

  /**
   * Code for all lanes of a warp at once; generated classes extend it.
   *
   * <p>What differs from lane to lane is in {@link CompiledWarp#columns}, what all have in common
   * in {@link CompiledWarp#uniforms}. The code is a number of chunks, each of which begins where
   * lanes may come in, come together or be interrupted.
   */
  abstract static class WarpCode {
    /** Result of {@link #run} when each lane goes on by itself. */
    static final int LEFT = -1;

    /** Values of lanes in a column. */
    static final int COLUMN = Warp.SIZE;

    /**
     * A place where values go from the lanes' register files to the warp's or back.
     *
     * @param op what a lane executes next that goes on by itself
     * @param slots in the register file
     * @param locations where each is in the warp: the first of a column, or the complement of the
     *     index of a common value
     */
    @SuppressWarnings("ArrayRecordComponent") // handed over, never compared
    record Crossing(Op op, int[] slots, int[] locations) {}

    Crossing[] crossings = {};
    int columns;
    int uniforms;

    /** Entries at which an interrupted warp waits for its next step, by chunk. */
    WarpEntry[] entries = {};

    /** Number of times that lanes came with different values that the code takes for common. */
    int mismatches;

    /**
     * Goes on at a chunk.
     *
     * @return {@link #LEFT}, or the complement of {@link #interruptedAt} when it was interrupted
     */
    abstract int run(CompiledWarp warp, VmThread leader, int chunk);

    /** Converts a chunk to the result of code that was interrupted there, and back. */
    static int interruptedAt(int chunk) {
      return -2 - chunk;
    }
  }
}
