package dev.doorbell.ptxvm.engine;

import dev.doorbell.ptxvm.ir.Dataflow;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Register;
import java.util.BitSet;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Lets the loads of a function go ahead: whatever reads or writes a register that one of them
 * brings waits for it first, wherever control came from.
 *
 * <p>All loads are waited for where registers change hands, and where a round of a polling loop
 * ends, which is judged by what it has loaded.
 */
final class Scoreboard {
  private final List<Instruction> code;
  private final List<@Nullable Op> ops;
  private final ToIntFunction<Register> slotOf;
  private final BitSet loaded = new BitSet();

  private Scoreboard(
      List<Instruction> code, List<@Nullable Op> ops, ToIntFunction<Register> slotOf) {
    this.code = code;
    this.ops = ops;
    this.slotOf = slotOf;
  }

  /** Replaces operations of a function that are not linked yet. */
  static void apply(
      List<Instruction> code, List<@Nullable Op> ops, ToIntFunction<Register> slotOf) {
    new Scoreboard(code, ops, slotOf).run();
  }

  private void run() {
    for (int i = 0; i < ops.size(); i++) {
      Op op = ops.get(i);
      if (op != null && Shape.bare(op) instanceof LoadOp load && load.mayGoAhead()) {
        for (int slot : load.results) {
          loaded.set(slot);
        }
      }
    }
    for (int i = 0; i < ops.size(); i++) {
      Op op = ops.get(i);
      if (op != null) {
        ops.set(i, waiting(op, code.get(i)));
      }
    }
  }

  private Op waiting(Op op, Instruction instruction) {
    if (wantsAll(op, instruction)) {
      return Awaiting.all(op);
    }
    BitSet slots = new BitSet();
    Consumer<Register> note = register -> slots.set(slotOf.applyAsInt(register));
    Dataflow.reads(instruction, note);
    Dataflow.writes(instruction, note);
    slots.and(loaded);
    Op goesAhead = aheadOf(op);
    return slots.isEmpty() ? goesAhead : Awaiting.of(goesAhead, slots.stream().toArray());
  }

  private static boolean wantsAll(Op op, Instruction instruction) {
    return switch (instruction.name()) {
      case "call", "ret", "exit" -> true;
      default -> op instanceof Branch branch && branch.loop != null;
    };
  }

  private static Op aheadOf(Op op) {
    if (!(Shape.bare(op) instanceof LoadOp load) || !load.mayGoAhead()) {
      return op;
    }
    AheadLoad ahead = new AheadLoad(load);
    return op instanceof Guarded guarded ? guarded.with(ahead) : ahead;
  }
}
