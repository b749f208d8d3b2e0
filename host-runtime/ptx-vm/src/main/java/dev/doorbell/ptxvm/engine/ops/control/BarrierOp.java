package dev.doorbell.ptxvm.engine.ops.control;

import dev.doorbell.ptxvm.engine.decode.Assembler;
import dev.doorbell.ptxvm.engine.decode.Assembler.Unsupported;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.Op.Stop;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.engine.machine.VmThread.Fault;
import dev.doorbell.ptxvm.engine.machine.Warp;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.ScalarType;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@code bar} and {@code barrier}: sync, arrive, red. */
public final class BarrierOp extends Op {
  private enum Reduction {
    NONE,
    COUNT,
    ALL,
    ANY
  }

  /** The operands of an instruction; a slot is -1 where it has none. */
  private record Form(
      int id,
      int count,
      boolean waits,
      Reduction reduction,
      int d,
      int predicate,
      boolean negated) {}

  private final Form form;

  private BarrierOp(Form form) {
    this.form = form;
  }

  public static Op make(Instruction i, Assembler a) throws Unsupported {
    if (i.has("warp")) {
      return WarpOps.barrier(i, a);
    }
    if (i.name().equals("barrier") && i.has("cluster")) {
      return new Stop("clusters are not supported");
    }
    List<Operand> operands = new ArrayList<>(i.operands());
    Reduction reduction = Reduction.NONE;
    int d = -1;
    int predicate = -1;
    boolean negated = false;
    if (i.has("red")) {
      reduction = i.has("popc") ? Reduction.COUNT : i.has("and") ? Reduction.ALL : Reduction.ANY;
      d = a.result(operands.removeFirst());
      Assembler.Condition condition = a.condition(operands.removeLast());
      negated = condition.negated();
      predicate = condition.slot();
    }
    if (operands.isEmpty()) {
      throw Unsupported.malformed("a barrier id is needed");
    }
    boolean waits = !i.has("arrive");
    if (!waits && operands.size() < 2) {
      throw Unsupported.malformed("arrive needs a thread count");
    }
    int id = a.source(operands.getFirst(), ScalarType.U32);
    int count = operands.size() > 1 ? a.source(operands.get(1), ScalarType.U32) : -1;
    return new BarrierOp(new Form(id, count, waits, reduction, d, predicate, negated));
  }

  @Override
  public @Nullable Op execute(VmThread t, long[] r) {
    if (!t.released) {
      // What came before is performed for the block before the others go on.
      t.account();
      t.port.settle();
      if (t.port.parked) {
        return t.park(this);
      }
      t.op = this;
      t.polling.acted();
      boolean given = form.predicate >= 0 && (r[form.predicate] != 0) != form.negated;
      t.cta
          .barrier(r[form.id] & 0xffffffffL)
          .arrive(t, threads(t, r), t.cta.barrierWeight(t), form.waits, given);
      if (!form.waits) {
        return next;
      }
      if (!t.released) {
        return t.await(this);
      }
    }
    t.released = false;
    switch (form.reduction) {
      case NONE -> {}
      case COUNT -> r[form.d] = t.result;
      case ALL -> r[form.d] = t.result == t.offeredControl ? 1 : 0;
      case ANY -> r[form.d] = t.result != 0 ? 1 : 0;
    }
    return next;
  }

  private int threads(VmThread t, long[] r) {
    int whole = (t.cta.threads.length + Warp.SIZE - 1) & -Warp.SIZE;
    if (form.count < 0) {
      return whole;
    }
    long named = r[form.count] & 0xffffffffL;
    if (named == 0 || named % Warp.SIZE != 0 || named > whole) {
      throw new Fault(
          "barrier of %d threads: a multiple of 32, at most the block's %d, is needed"
              .formatted(named, whole));
    }
    return (int) named;
  }
}
