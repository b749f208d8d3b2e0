package dev.doorbell.ptxvm.engine.machine;

import dev.doorbell.core.agent.ForwardProgress;
import dev.doorbell.ptxvm.engine.machine.ConvergenceOp.CompiledCode;
import dev.doorbell.ptxvm.engine.machine.VmThread.Fault;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The 32 lanes of a warp, which meet at {@code .sync} operations. There is no lockstep: a lane that
 * arrives waits for the others of its mask; the last one does the operation for all.
 */
@SuppressWarnings("ReferenceEquality") // operations and threads are compared by identity
public final class Warp {
  public static final int SIZE = 32;

  final Cta cta;
  public final VmThread[] lanes;

  /** Lanes that have exited or never were. */
  public int gone;

  /** The first {@code open} are under way; the others are kept for reuse. */
  private Arrivals[] pendingArrivals = {};

  private int open;

  /** State that compiled code keeps for the warp. */
  public @Nullable Object compiledState;

  /** True where one lane runs until it ends or waits for others, and then another one. */
  final boolean lanesApart;

  private final boolean lowestFirst;
  private @Nullable VmThread runner;

  /** The lane whose operation was last executed out of line: an error there is its. */
  public @Nullable VmThread acting;

  Warp(Cta cta, int lanes) {
    this.cta = cta;
    this.lanes = new VmThread[lanes];
    this.gone = lanes == SIZE ? 0 : -1 << lanes;
    ForwardProgress progress = cta.grid.settings.progress();
    this.lanesApart = progress.lanesApart();
    this.lowestFirst = progress == ForwardProgress.LANES_ASCENDING;
  }

  /**
   * True when {@code lane} may take a step where one lane runs after the other, as on hardware
   * without independent thread scheduling: one that spins keeps the others from going on.
   */
  boolean lets(VmThread lane) {
    VmThread now = runner;
    if (now == null || now.exited || now.waiting) {
      now = nextRunner();
      runner = now;
    }
    return now == lane;
  }

  private @Nullable VmThread nextRunner() {
    for (int i = 0; i < lanes.length; i++) {
      VmThread lane = lanes[lowestFirst ? i : lanes.length - 1 - i];
      if (!lane.exited && !lane.waiting) {
        return lane;
      }
    }
    return null;
  }

  /** The lane that ran has ended or waits: the others look again. */
  void passOn() {
    for (VmThread lane : lanes) {
      if (!lane.exited && !lane.waiting && !lane.port.wakeAgent()) {
        lane.grid.fabric.wake(lane);
      }
    }
  }

  /** Lanes that wait for the rest of a mask; several at once when their masks are disjoint. */
  private static final class Arrivals {
    ConvergenceOp op;
    int mask;
    int arrived;

    Arrivals(ConvergenceOp op) {
      this.op = op;
    }
  }

  /**
   * {@code t} arrives at {@code op} with {@code t.mask}; releases all when it was the last.
   *
   * @return where all of them go on together, or null when each goes on by itself
   */
  public @Nullable Op arrive(VmThread t, ConvergenceOp op) {
    int mask = t.mask;
    if ((mask >>> t.lane & 1) == 0) {
      throw new Fault(
          "lane %d executes a warp operation whose mask 0x%08x does not name it"
              .formatted(t.lane, mask));
    }
    Arrivals arrivals = null;
    for (int i = 0; i < open; i++) {
      Arrivals other = pendingArrivals[i];
      boolean pairs = other.op == op || (op.isBarrier() && other.op.isBarrier());
      if (pairs && other.mask == mask) {
        arrivals = other;
      } else if ((other.mask >>> t.lane & 1) != 0 && (other.arrived & mask) != 0) {
        throw mismatch(t, other, pairs);
      }
    }
    if (arrivals == null) {
      arrivals = open(op, mask);
    }
    arrivals.arrived |= 1 << t.lane;
    t.op = op;
    return complete(arrivals, t);
  }

  private Arrivals open(ConvergenceOp op, int mask) {
    if (open == pendingArrivals.length) {
      pendingArrivals = Arrays.copyOf(pendingArrivals, open + 1);
      pendingArrivals[open] = new Arrivals(op);
    }
    Arrivals arrivals = pendingArrivals[open++];
    arrivals.op = op;
    arrivals.mask = mask;
    arrivals.arrived = 0;
    return arrivals;
  }

  private Fault mismatch(VmThread t, Arrivals other, boolean pairs) {
    int lane = Integer.numberOfTrailingZeros(other.arrived & t.mask);
    return pairs
        ? new Fault(
            "lane %d has mask 0x%08x, lane %d waits at the same warp operation with mask 0x%08x"
                .formatted(t.lane, t.mask, lane, other.mask))
        : new Fault(
            "lane %d meets lane %d of its mask 0x%08x at another warp operation: %s"
                .formatted(t.lane, lane, t.mask, cta.grid.image.describe(other.op.place)));
  }

  /** Does the operation when every lane of the mask that still lives has arrived. */
  private @Nullable Op complete(Arrivals arrivals, @Nullable VmThread last) {
    int members = arrivals.mask & ~gone;
    if ((members & ~arrivals.arrived) != 0) {
      return null;
    }
    ConvergenceOp op = arrivals.op;
    close(arrivals);
    Op together = last == null ? null : together(last, op, members);
    if (together == null) {
      op.completeApart(lanes, members);
    }
    return together;
  }

  /**
   * Returns where the warp may go on with all its lanes together, when {@code members} are all that
   * live; {@code last} executes for all of them then.
   */
  public @Nullable Op together(VmThread last, ConvergenceOp op, int members) {
    CompiledCode code = op.compiled;
    return code == null || members != ~gone ? null : code.enter(this, last, op, members);
  }

  private void close(Arrivals arrivals) {
    open--;
    for (int i = 0; i < open; i++) {
      if (pendingArrivals[i] == arrivals) {
        pendingArrivals[i] = pendingArrivals[open];
        pendingArrivals[open] = arrivals;
        return;
      }
    }
  }

  /** A lane is gone for good: those that waited for it need not. */
  void exited(VmThread t) {
    gone |= 1 << t.lane;
    for (int i = open - 1; i >= 0; i--) {
      if ((pendingArrivals[i].mask >>> t.lane & 1) != 0) {
        complete(pendingArrivals[i], null);
      }
    }
  }
}
