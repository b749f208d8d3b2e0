package dev.doorbell.ptxvm.engine.machine;

import dev.doorbell.ptxvm.ir.Dataflow;
import dev.doorbell.ptxvm.ir.Function;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand.Register;
import dev.doorbell.ptxvm.ir.Slots;
import dev.doorbell.ptxvm.ir.Variable;
import dev.doorbell.ptxvm.memory.Layout;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A function as its callers see it: where it begins, its frame, its slots. */
public final class LinkedFunction {
  /** No local variable asks for more. */
  private static final int FRAME_ALIGN = 128;

  public final Function function;

  /** Parameters, results, locals and the parameters of its own calls, in this order. */
  public final Layout frame = new Layout();

  public final long frameBytes;

  public final long[] parameterOffsets;

  public final long[] resultOffsets;

  public final int firstSlot;
  public final int lastSlot;

  /** True when it may run while it already runs: its registers are saved by calls. */
  public final boolean recursive;

  public @Nullable Op first;

  /** Its operations, one an instruction; null where one was refused. */
  public List<@Nullable Op> ops = List.of();

  private final Slots slots;

  /** For each register, the only instruction that writes it; null where several do, or none. */
  private final @Nullable Instruction[] onlyWriters;

  public LinkedFunction(Function function, Slots slots, int firstSlot, boolean recursive) {
    this.function = function;
    this.slots = slots;
    this.onlyWriters = onlyWriters(function);
    this.firstSlot = firstSlot;
    this.lastSlot = firstSlot + slots.count();
    this.recursive = recursive;
    if (!function.entry()) {
      frame.add(function.parameters()).add(function.results());
    }
    frame.add(function.locals());
    frame.align(FRAME_ALIGN);
    frameBytes = frame.bytes();
    parameterOffsets = offsets(function.parameters());
    resultOffsets = offsets(function.results());
  }

  private static @Nullable Instruction[] onlyWriters(Function function) {
    @Nullable Instruction[] only = new Instruction[function.registers().size()];
    BitSet several = new BitSet();
    for (Instruction instruction : function.code()) {
      Dataflow.writes(
          instruction,
          register -> {
            if (only[register.id()] != null) {
              several.set(register.id());
            }
            only[register.id()] = instruction;
          });
    }
    several.stream().forEach(register -> only[register] = null);
    return only;
  }

  /** The only instruction that writes a register; null where several do, or none. */
  public @Nullable Instruction onlyWriter(Register register) {
    return onlyWriters[register.id()];
  }

  private long[] offsets(List<Variable> variables) {
    return function.entry() ? new long[0] : variables.stream().mapToLong(frame::offset).toArray();
  }

  public int slot(Register register) {
    return firstSlot + slots.of(register);
  }

  /** The operation of an instruction that was not refused. */
  public Op op(int index) {
    Op op = ops.get(index);
    if (op == null) {
      throw new IllegalStateException("instruction " + index + " was refused");
    }
    return op;
  }
}
