package dev.doorbell.ptxvm.engine;

import dev.doorbell.ptxvm.ir.Function;
import dev.doorbell.ptxvm.ir.Slots;
import dev.doorbell.ptxvm.ir.Variable;
import dev.doorbell.ptxvm.memory.Layout;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A function as its callers see it: where it begins, its frame, its slots. */
final class Callee {
  /** No local variable asks for more. */
  private static final int FRAME_ALIGN = 128;

  final Function function;

  /** Parameters, results, locals and the parameters of its own calls, in this order. */
  final Layout frame = new Layout();

  /** Bytes of the frame. */
  final long frameBytes;

  /** Where its parameters and results are in its frame. */
  final long[] parameterOffsets;

  final long[] resultOffsets;

  final int firstSlot;
  final int lastSlot;

  /** True when it may run while it already runs: its registers are saved by calls. */
  final boolean recursive;

  @Nullable Op first;

  /** Its operations, one an instruction; null where one was refused. */
  List<@Nullable Op> ops = List.of();

  /** Doors of compiled regions, by the operation in whose place they stand. */
  Map<Op, Entry> entries = Map.of();

  @Nullable Slots slots;

  Callee(Function function, int firstSlot, int lastSlot, boolean recursive) {
    this.function = function;
    this.firstSlot = firstSlot;
    this.lastSlot = lastSlot;
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

  private long[] offsets(List<Variable> variables) {
    return function.entry() ? new long[0] : variables.stream().mapToLong(frame::offset).toArray();
  }

  /** What stands in the program at an instruction: its operation, or a door in its place. */
  Op linked(int index) {
    Op op = Compiler.op(this, index);
    Entry entry = entries.get(op);
    return entry == null ? op : entry;
  }
}
