package dev.doorbell.ptxvm.engine;

import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.ptxvm.ir.Dataflow;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Register;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** Steps the threads of a grid in place of {@link VmThread#step}, and tells a {@link Probe}. */
final class Instrument {
  private final Probe probe;

  Instrument(Probe probe) {
    this.probe = probe;
  }

  /** As {@link VmThread#step} does, once it is clear that the thread runs. */
  int step(VmThread t, Op first, int budget) {
    KernelCode code = t.cta.grid.code;
    long thread = (long) t.cta.index * t.cta.grid.shape.threads() + t.index;
    boolean followed = probe.follows(thread);
    Op current = Entry.interpreted(first);
    try {
      while (true) {
        Instruction instruction = code.instruction(current);
        boolean skipped = current instanceof Guarded guarded && !guarded.holds(t.r);
        List<Probe.Value> read =
            followed ? values(t, current, Access.READS, instruction) : List.of();
        Op following = current.execute(t, t.r);
        t.left--;
        if (following != null || isDone(t, current)) {
          if (followed) {
            List<Probe.Value> written =
                skipped ? List.of() : values(t, current, Access.WRITES, instruction);
            probe.followed(new Probe.Step(thread, t.name(), instruction, skipped, read, written));
          } else {
            probe.counted(thread, instruction, skipped);
          }
        }
        if (following == null) {
          break;
        }
        current = Entry.interpreted(following);
        if (t.left <= 0) {
          t.op = current;
          break;
        }
      }
    } catch (AccessFault | Fault e) {
      t.cta.grid.fail(t, current, String.valueOf(e.getMessage()));
    }
    return budget - t.left;
  }

  /** A thread that left its step is done with the instruction unless it will issue it again. */
  private static boolean isDone(VmThread t, Op current) {
    @Nullable Op again = t.op;
    Op inner = current instanceof Guarded guarded ? guarded.inner : current;
    return inner instanceof Branch || !(current.equals(again) || inner.equals(again));
  }

  private enum Access {
    READS,
    WRITES
  }

  private static List<Probe.Value> values(
      VmThread t, Op op, Access access, Instruction instruction) {
    Set<Register> registers = new LinkedHashSet<>();
    if (access == Access.READS) {
      Dataflow.reads(instruction, registers::add);
    } else {
      Dataflow.writes(instruction, registers::add);
    }
    ToIntFunction<Register> slots = t.cta.grid.code.slots(op);
    List<Probe.Value> values = new ArrayList<>(registers.size());
    for (Register register : registers) {
      int slot = slots.applyAsInt(register);
      if (slot >= 0) {
        values.add(new Probe.Value(register, t.r[slot]));
      }
    }
    return values;
  }
}
