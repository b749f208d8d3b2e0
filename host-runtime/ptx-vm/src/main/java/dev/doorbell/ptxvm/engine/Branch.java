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
    PollingLoops.Kind polling = a.polling();
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

  /** Closes a loop that only polls: a round that found nothing ends the step. */
  private static final class Poll extends Branch {
    private final int p;
    private final long wanted;
    private final PollingLoops.Kind kind;

    Poll(int p, long wanted, PollingLoops.Kind kind) {
      this.p = p;
      this.wanted = wanted;
      this.kind = kind;
    }

    @Override
    @Nullable Op execute(VmThread t, long[] r) {
      if (r[p] != wanted) {
        return next;
      }
      t.account();
      if (kind != PollingLoops.Kind.ATOMIC) {
        t.port.pollFailed(t.cta.grid.pollNanos(kind == PollingLoops.Kind.LOADS_AND_CLOCK));
      }
      return t.giveWay(target);
    }
  }
}
