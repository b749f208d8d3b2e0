package dev.doorbell.ptxvm.engine;

import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.PollingLoops;
import org.jspecify.annotations.Nullable;

/** {@code bra}: its guard is part of it. */
abstract class Branch extends Op {
  @Nullable Op target;

  static Op make(Instruction i, Assembler a) throws Unsupported {
    if (!(i.operands().getFirst() instanceof Operand.Target(int index))) {
      throw new Unsupported("the target is no label of this function");
    }
    Branch branch = of(i, a);
    a.later(() -> branch.target = a.op(index));
    return branch;
  }

  private static Branch of(Instruction i, Assembler a) {
    Instruction.Guard guard = i.guard();
    PollingLoops.Loop polling = a.polling();
    int p = guard == null ? a.kernel().constant(1) : a.slot(guard.predicate());
    long wanted = guard != null && guard.negated() ? 0 : 1;
    if (polling != null) {
      return new Poll(p, wanted, polling);
    }
    return guard == null ? new Always() : wanted == 0 ? new IfNot(p) : new If(p);
  }

  private static final class Always extends Branch {
    @Override
    @Nullable Op execute(VmThread t, long[] r) {
      return target;
    }
  }

  private static final class If extends Branch {
    private final int p;

    If(int p) {
      this.p = p;
    }

    @Override
    @Nullable Op execute(VmThread t, long[] r) {
      return r[p] != 0 ? target : next;
    }
  }

  private static final class IfNot extends Branch {
    private final int p;

    IfNot(int p) {
      this.p = p;
    }

    @Override
    @Nullable Op execute(VmThread t, long[] r) {
      return r[p] == 0 ? target : next;
    }
  }

  /**
   * Closes a loop that may poll: a round that found nothing ends the step. The fabric is asked to
   * wait only when a whole round was like the one before, so that nothing is missed.
   */
  private static final class Poll extends Branch {
    private final int p;
    private final long wanted;
    private final PollingLoops.Loop loop;

    Poll(int p, long wanted, PollingLoops.Loop loop) {
      this.p = p;
      this.wanted = wanted;
      this.loop = loop;
    }

    @Override
    @Nullable Op execute(VmThread t, long[] r) {
      if (r[p] != wanted) {
        return next;
      }
      boolean alike = t.polling.roundEnds();
      boolean hasCell = t.polling.takeStrongLoad();
      if (!alike && !loop.pure()) {
        return target;
      }
      t.account();
      if (alike && hasCell) {
        int doublings = loop.watchesClock() ? 0 : t.polling.doublings();
        t.port.pollFailed(t.cta.grid.pollNanos(doublings));
      }
      t.dozes = alike ? t.cta.grid.dozes() : 0;
      return t.giveWay(target);
    }
  }
}
