package dev.doorbell.ptxvm.engine.link;

import dev.doorbell.core.fabric.Fabric.Pipeline;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.ir.ControlFlow;
import dev.doorbell.ptxvm.ir.Dataflow;
import dev.doorbell.ptxvm.ir.Function;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Opcode;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.Operand.Register;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Says of each operation how long it waits for those before it: instructions are issued in order,
 * and each when its operands are there. This is known for every straight run of code; where a run
 * begins, all operands are there. Loads are waited for elsewhere.
 *
 * <p>PTX is not what a GPU executes. What the assembler of a GPU makes of it is followed where it
 * is always the same: moves, parameters and widening take no instruction, an integer operation on
 * 64 bits takes two, a jump that always happens is gone when the code is laid out.
 */
final class IssuePass {
  /** Turns of a read of a clock: with an addition it takes 7 (papers/h200-prices/chains.csv). */
  private static final int CLOCK = 5;

  private final Pipeline pipeline;
  private final boolean entry;

  /** When the result of a register can be an operand, in picoseconds of the run. */
  private final Map<Register, Long> results = new HashMap<>();

  /** When a predicate can decide. */
  private final Map<Register, Long> decisions = new HashMap<>();

  /** When the next instruction can be issued. */
  private long next;

  private IssuePass(Pipeline pipeline, boolean entry) {
    this.pipeline = pipeline;
    this.entry = entry;
  }

  /** Notes the waits of a function's operations in them. */
  static void apply(
      Function function, ControlFlow flow, List<@Nullable Op> ops, Pipeline pipeline) {
    List<Instruction> code = function.code();
    IssuePass pass = new IssuePass(pipeline, function.entry());
    BitSet leaders = leaders(flow, code.size());
    for (int i = 0; i < code.size(); i++) {
      if (leaders.get(i)) {
        pass.begin();
      }
      long before = pass.next;
      pass.issue(code.get(i));
      Op op = ops.get(i);
      if (op != null) {
        op.stall = pass.next - before - pipeline.issue();
      }
      if (flow.successors(i).length != 1) {
        pass.begin();
      }
    }
  }

  /** Returns the places where control may come from elsewhere. */
  private static BitSet leaders(ControlFlow flow, int size) {
    BitSet leaders = new BitSet();
    for (int i = 0; i < size; i++) {
      for (int next : flow.successors(i)) {
        if (next != i + 1) {
          leaders.set(next);
        }
      }
    }
    return leaders;
  }

  private void begin() {
    results.clear();
    decisions.clear();
    next = 0;
  }

  private void issue(Instruction instruction) {
    int units = units(instruction);
    long[] ready = {units == 0 ? 0 : next};
    if (instruction.guard() != null) {
      wait(ready, decisions, instruction.guard().predicate());
    }
    Dataflow.reads(
        instruction,
        register -> {
          if (instruction.guard() == null || !register.equals(instruction.guard().predicate())) {
            wait(ready, results, register);
          }
        });
    if (units == 0) {
      Dataflow.writes(instruction, register -> results.put(register, ready[0]));
      return;
    }
    long issued = ready[0];
    next = issued + units * pipeline.issue() + flowCost(instruction);
    long latency = latency(instruction);
    Dataflow.writes(
        instruction,
        register -> {
          results.put(register, issued + latency);
          decisions.put(register, issued + latency + pipeline.decision() - pipeline.result());
        });
  }

  private static void wait(long[] ready, Map<Register, Long> from, Register register) {
    ready[0] = Math.max(ready[0], from.getOrDefault(register, 0L));
  }

  private long flowCost(Instruction instruction) {
    return switch (instruction.name()) {
      case "bra", "brx" -> pipeline.jump();
      case "call" -> pipeline.call() / 2;
      case "ret" -> entry ? 0 : pipeline.call() - pipeline.call() / 2;
      default -> 0;
    };
  }

  /** Turns that an instruction takes. */
  private int units(Instruction instruction) {
    return switch (instruction.name()) {
      case "mov" -> readsClock(instruction) ? CLOCK : instruction.guard() == null ? 0 : 1;
      case "cvta" -> instruction.guard() == null ? 0 : 1;
      // A kernel's parameters are constants, a function's are moved into place.
      case "ld" -> !instruction.has("param") ? 1 : entry ? 0 : isLong(instruction) ? 2 : 1;
      case "st" -> instruction.has("param") && isLong(instruction) ? 2 : 1;
      case "cvt" -> isWidening(instruction) ? 0 : 1;
      case "bra" -> instruction.guard() == null ? 0 : 1;
      default -> isLong(instruction) ? Opcode.of(instruction.name()).wideTurns() : 1;
    };
  }

  private static boolean readsClock(Instruction instruction) {
    return instruction.operands().getLast() instanceof Operand.Special(String name)
        && (name.startsWith("%clock") || name.startsWith("%globaltimer"));
  }

  private static boolean isWidening(Instruction instruction) {
    List<String> types = instruction.modifiers();
    String to = types.isEmpty() ? "" : types.get(Math.max(0, types.size() - 2));
    String from = types.isEmpty() ? "" : types.getLast();
    boolean widens = (to.equals("u64") || to.equals("s64")) && from.equals("u32");
    boolean cuts = (to.equals("u32") || to.equals("s32")) && isLong(from);
    return widens || cuts;
  }

  private static boolean isLong(Instruction instruction) {
    return instruction.modifiers().stream().anyMatch(IssuePass::isLong);
  }

  private static boolean isLong(String type) {
    return type.equals("u64") || type.equals("s64") || type.equals("b64");
  }

  private long latency(Instruction instruction) {
    long result = pipeline.result();
    boolean wide = isLong(instruction);
    return switch (instruction.name()) {
      case "shl", "shr" -> wide ? result + 2 * pipeline.issue() : result;
      case "setp", "min", "max" -> wide ? 2 * result : result;
      case "mul", "mad" -> wide || instruction.has("wide") ? 3 * result : result;
      case "popc", "clz", "brev", "bfind", "isspacep" -> 4 * result;
      case "ld", "atom" -> 0;
      default -> result;
    };
  }
}
