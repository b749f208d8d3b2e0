package dev.doorbell.ptxvm.engine.ops.control;

import dev.doorbell.ptxvm.engine.decode.Assembler;
import dev.doorbell.ptxvm.engine.decode.Assembler.Unsupported;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.engine.machine.VmThread.Fault;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.ScalarType;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Control flow besides branches and calls. */
public final class Flow {
  private Flow() {}

  public static Op ret(Instruction i, Assembler a) {
    return Op.leaving((t, r) -> t.calls.isEmpty() ? t.exit() : t.calls.top().execute(t, r));
  }

  public static Op exit(Instruction i, Assembler a) {
    return Op.leaving((t, r) -> t.exit());
  }

  public static Op trap(Instruction i, Assembler a) {
    String what = i.name().equals("trap") ? "trap" : "breakpoint without a debugger";
    return Op.failing(
        (t, r) -> {
          throw new Fault(what);
        });
  }

  /** {@code brx.idx index, targets}. */
  public static Op indexed(Instruction i, Assembler a) throws Unsupported {
    if (!(i.operands().getLast() instanceof Operand.Targets(List<Integer> indices))) {
      throw Unsupported.malformed("a .branchtargets label is needed");
    }
    Indexed op = new Indexed(a.source(i.operands().getFirst(), ScalarType.U32), indices.size());
    a.later(
        () -> {
          for (int k = 0; k < indices.size(); k++) {
            op.targets[k] = a.op(indices.get(k));
          }
        });
    return op;
  }

  /** {@code nanosleep}: a hint to give way. */
  public static Op sleep(Instruction i, Assembler a) throws Unsupported {
    return new Sleep(a.source(i.operands().getFirst(), ScalarType.U32));
  }

  public static final class Indexed extends Op {
    private final int index;
    public final @Nullable Op[] targets;

    public Indexed(int index, int count) {
      this.index = index;
      this.targets = new Op[count];
    }

    @Override
    public List<Op> following() {
      return Stream.of(targets).flatMap(Stream::ofNullable).distinct().toList();
    }

    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      long at = r[index] & 0xffffffffL;
      if (at >= targets.length) {
        throw new Fault("branch index %d, there are %d targets".formatted(at, targets.length));
      }
      return targets[(int) at];
    }
  }

  private static final class Sleep extends Op {
    private final int nanos;

    Sleep(int nanos) {
      this.nanos = nanos;
    }

    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      t.account();
      t.port.spend(r[nanos] & 0xffffffffL);
      return t.giveWay(next);
    }
  }
}
