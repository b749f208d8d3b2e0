package dev.doorbell.ptxvm.engine.probe;

import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.engine.machine.VmThread.Fault;
import dev.doorbell.ptxvm.engine.machine.VmThread.Stepper;
import dev.doorbell.ptxvm.engine.ops.control.Branch;
import dev.doorbell.ptxvm.engine.ops.control.Guarded;
import dev.doorbell.ptxvm.ir.Dataflow;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand.Register;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** Steps the threads of a grid in place of {@link VmThread#step}, and calls a {@link Probe}. */
public final class Instrument implements Stepper {
  private final Probe probe;

  public Instrument(Probe probe) {
    this.probe = probe;
  }

  @Override
  public void step(VmThread t, Op first) {
    long thread = (long) t.cta.index * t.grid.shape.threads() + t.index;
    boolean followed = probe.follows(thread);
    Op current = first;
    try {
      while (true) {
        Instruction instruction = t.grid.image.instruction(current.place);
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
        current = following;
        if (t.left <= 0) {
          t.op = current;
          break;
        }
      }
    } catch (AccessFault | Fault e) {
      t.fail(current, String.valueOf(e.getMessage()));
    }
  }

  /** A thread that left its step is done with the instruction unless it will issue it again. */
  private static boolean isDone(VmThread t, Op current) {
    @Nullable Op again = t.op;
    Op inner = current.bare();
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
    ToIntFunction<Register> slots = t.grid.image.slotsAt().get(op.place);
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
