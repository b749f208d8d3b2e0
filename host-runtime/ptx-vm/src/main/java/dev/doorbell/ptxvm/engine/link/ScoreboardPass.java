package dev.doorbell.ptxvm.engine.link;

import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.ops.control.Branch;
import dev.doorbell.ptxvm.engine.ops.control.Guarded;
import dev.doorbell.ptxvm.engine.ops.memory.LoadOp;
import dev.doorbell.ptxvm.engine.ops.memory.LoadOp.NonBlockingLoad;
import dev.doorbell.ptxvm.engine.ops.memory.ScoreboardWait;
import dev.doorbell.ptxvm.ir.ControlFlow;
import dev.doorbell.ptxvm.ir.Dataflow;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand.Register;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Lets the loads of a function go ahead: whatever reads or writes a register that one of them may
 * still bring waits for it first. Which these are, by forward dataflow: a load adds its registers,
 * who waits for them takes them away.
 *
 * <p>All loads are waited for where registers change hands, and where a round of a polling loop
 * ends, which is judged by what it has loaded. So none is under way where a function begins.
 */
final class ScoreboardPass {
  private final List<Instruction> code;
  private final List<@Nullable Op> ops;
  private final ToIntFunction<Register> slotOf;

  /** Slots by instruction: those that loads under way may still write when control gets there. */
  private final List<BitSet> pending = new ArrayList<>();

  private ScoreboardPass(
      List<Instruction> code, List<@Nullable Op> ops, ToIntFunction<Register> slotOf) {
    this.code = code;
    this.ops = ops;
    this.slotOf = slotOf;
  }

  /** Replaces operations of a function that are not linked yet. */
  static void apply(
      List<Instruction> code,
      ControlFlow flow,
      List<@Nullable Op> ops,
      ToIntFunction<Register> slotOf) {
    ScoreboardPass board = new ScoreboardPass(code, ops, slotOf);
    board.follow(flow);
    board.replace();
  }

  private void follow(ControlFlow flow) {
    List<BitSet> used = new ArrayList<>();
    for (Instruction instruction : code) {
      used.add(used(instruction));
      pending.add(new BitSet());
    }
    boolean changed = true;
    while (changed) {
      changed = false;
      for (int i = 0; i < code.size(); i++) {
        BitSet behind = behind(i, used.get(i));
        for (int next : flow.successors(i)) {
          BitSet more = (BitSet) behind.clone();
          more.andNot(pending.get(next));
          if (!more.isEmpty()) {
            pending.get(next).or(more);
            changed = true;
          }
        }
      }
    }
  }

  /** Returns what may be under way behind an instruction. */
  private BitSet behind(int index, BitSet used) {
    Op op = ops.get(index);
    BitSet slots = new BitSet();
    if (op == null) {
      return slots;
    }
    if (!wantsAll(op, code.get(index))) {
      slots.or(pending.get(index));
      slots.andNot(used);
    }
    LoadOp load = goingAhead(op);
    if (load != null) {
      for (int slot : load.results) {
        slots.set(slot);
      }
    }
    return slots;
  }

  private BitSet used(Instruction instruction) {
    BitSet slots = new BitSet();
    Consumer<Register> note = register -> slots.set(slotOf.applyAsInt(register));
    Dataflow.reads(instruction, note);
    Dataflow.writes(instruction, note);
    return slots;
  }

  private void replace() {
    for (int i = 0; i < ops.size(); i++) {
      Op op = ops.get(i);
      if (op != null) {
        ops.set(i, waiting(op, code.get(i), pending.get(i)));
      }
    }
  }

  private Op waiting(Op op, Instruction instruction, BitSet open) {
    if (wantsAll(op, instruction)) {
      return open.isEmpty() ? op : ScoreboardWait.all(op);
    }
    BitSet wanted = used(instruction);
    wanted.and(open);
    Op goesAhead = aheadOf(op);
    return wanted.isEmpty() ? goesAhead : ScoreboardWait.of(goesAhead, wanted.stream().toArray());
  }

  private static boolean wantsAll(Op op, Instruction instruction) {
    return switch (instruction.name()) {
      case "call", "ret", "exit" -> true;
      default -> op instanceof Branch branch && branch.loop != null;
    };
  }

  private static Op aheadOf(Op op) {
    LoadOp load = goingAhead(op);
    if (load == null) {
      return op;
    }
    NonBlockingLoad ahead = new NonBlockingLoad(load);
    return op instanceof Guarded guarded ? guarded.with(ahead) : ahead;
  }

  private static @Nullable LoadOp goingAhead(Op op) {
    return op.bare() instanceof LoadOp load && load.mayGoAhead() ? load : null;
  }
}
