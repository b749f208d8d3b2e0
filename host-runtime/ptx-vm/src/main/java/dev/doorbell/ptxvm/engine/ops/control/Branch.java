package dev.doorbell.ptxvm.engine.ops.control;

import dev.doorbell.core.agent.NextPlaces;
import dev.doorbell.ptxvm.engine.decode.Assembler;
import dev.doorbell.ptxvm.engine.decode.Assembler.Unsupported;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.PollingLoops;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@code bra}: its guard is part of it. */
public abstract class Branch extends Op {
  public @Nullable Op target;

  /** Slot of the predicate, and the value with which it jumps; -1 jumps always. */
  public int p = -1;

  public long wanted = 1;

  /** The loop that it closes, when that may poll. */
  public PollingLoops.@Nullable Loop loop;

  public static Op make(Instruction i, Assembler a) throws Unsupported {
    if (!(i.operands().getFirst() instanceof Operand.Target(int index))) {
      throw Unsupported.malformed("the target is no label of this function");
    }
    Branch branch = of(i, a);
    a.later(() -> branch.target = a.op(index));
    return branch;
  }

  private static Branch of(Instruction i, Assembler a) {
    Instruction.Guard guard = i.guard();
    PollingLoops.Loop waits = a.polling();
    PollingLoops.Loop polling = waits != null && waits.polls() ? waits : null;
    boolean negated = guard != null && guard.negated();
    Branch branch;
    if (polling != null) {
      branch = new Poll(polling);
    } else if (waits != null) {
      branch = new Spin(waits.loads(), a.slots(waits.counters()));
    } else {
      branch = guard == null ? new Always() : negated ? new IfNot() : new If();
    }
    branch.loop = polling;
    branch.p = guard == null ? -1 : a.slot(guard.predicate());
    branch.wanted = negated ? 0 : 1;
    return branch;
  }

  @Override
  public List<Op> following() {
    Op jump = target;
    return p < 0 && jump != null ? List.of(jump) : both(jump, next);
  }

  /** Returns those of two ways that there are, once where they lead to the same. */
  @SuppressWarnings("ReferenceEquality") // operations are compared by identity
  static List<Op> both(@Nullable Op jump, @Nullable Op next) {
    return jump == null || jump == next
        ? next == null ? List.of() : List.of(next)
        : next == null ? List.of(jump) : List.of(jump, next);
  }

  private static final class Always extends Branch {
    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      return target;
    }
  }

  private static final class If extends Branch {
    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      return r[p] != 0 ? target : next;
    }
  }

  private static final class IfNot extends Branch {
    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      return r[p] == 0 ? target : next;
    }
  }

  /**
   * Closes a loop in which registers are all that changes: a round that leaves them as they were,
   * but for counters that decide nothing, is like all that follow, but for what weak loads give.
   */
  private static final class Spin extends Branch {
    private final boolean loads;

    /** The slots of registers that decide nothing in the loop, which ends at this branch alone. */
    private final int[] counters;

    Spin(boolean loads, int[] counters) {
      this.loads = loads;
      this.counters = counters;
    }

    @Override
    public NextPlaces.Kind kind() {
      return NextPlaces.Kind.WAIT;
    }

    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      if (p >= 0 && r[p] != wanted) {
        if (t.spins != null) {
          t.spins.ended();
        }
        return next;
      }
      if (t.spins == null || !t.spins.sameRound(this, r, counters)) {
        return target;
      }
      t.account();
      t.port.spun(loads);
      return t.giveWay(target);
    }
  }

  /**
   * Closes a loop that may poll: a round that found nothing ends the step. The fabric is asked to
   * wait only when a whole round was like the one before, so that nothing is missed.
   */
  private static final class Poll extends Branch {
    private final PollingLoops.Loop closes;

    Poll(PollingLoops.Loop closes) {
      this.closes = closes;
    }

    @Override
    public NextPlaces.Kind kind() {
      return NextPlaces.Kind.WAIT;
    }

    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      if (p >= 0 && r[p] != wanted) {
        return next;
      }
      boolean alike = t.polling.roundEnds();
      boolean hasCell = t.polling.takeStrongLoad();
      if (!alike && !closes.pure()) {
        return target;
      }
      t.account();
      if (alike && hasCell) {
        boolean judged = t.spins != null;
        boolean mayGiveUp = closes.watchesClock() || (judged && closes.counters().decide());
        int doublings = mayGiveUp ? 0 : t.polling.doublings();
        t.port.pollFailed(t.grid.pollNanos(doublings));
      }
      t.pollsToSkip = alike ? t.grid.skippedPolls() : 0;
      return t.giveWay(target);
    }
  }
}
