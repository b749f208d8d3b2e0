package dev.doorbell.ptxvm.ir;

import dev.doorbell.ptxvm.ir.Operand.Register;
import java.util.Set;
import java.util.function.Consumer;

/** Registers that an instruction reads and writes. */
public final class Dataflow {
  /** Instructions whose first operand is not a destination. */
  private static final Set<String> WITHOUT_RESULT =
      Set.of(
          "st",
          "red",
          "bra",
          "brx",
          "ret",
          "exit",
          "trap",
          "brkpt",
          "membar",
          "fence",
          "nanosleep",
          "prefetch",
          "prefetchu",
          "discard",
          "applypriority",
          "pmevent",
          "cp",
          "setmaxnreg",
          "griddepcontrol");

  private Dataflow() {}

  /** Calls {@code visit} for every register that is written. */
  public static void writes(Instruction instruction, Consumer<Register> visit) {
    if (instruction.operands().isEmpty()) {
      return;
    }
    Operand first = instruction.operands().getFirst();
    if (hasResult(instruction)) {
      visitResult(first, visit);
    }
  }

  /** Calls {@code visit} for every register that is read, the guard included. */
  public static void reads(Instruction instruction, Consumer<Register> visit) {
    if (instruction.guard() != null) {
      visit.accept(instruction.guard().predicate());
    }
    for (int i = hasResult(instruction) ? 1 : 0; i < instruction.operands().size(); i++) {
      visitAll(instruction.operands().get(i), visit);
    }
  }

  /** True when the first operand is a destination. */
  public static boolean hasResult(Instruction instruction) {
    return switch (instruction.name()) {
      case "bar", "barrier" -> instruction.has("red");
      case "multimem" -> instruction.has("ld_reduce");
      case "mbarrier" ->
          !instruction.operands().isEmpty()
              && !(instruction.operands().getFirst() instanceof Operand.Address);
      case "call" ->
          !instruction.operands().isEmpty()
              && instruction.operands().getFirst() instanceof Operand.Arguments;
      default -> !instruction.operands().isEmpty() && !WITHOUT_RESULT.contains(instruction.name());
    };
  }

  private static void visitResult(Operand operand, Consumer<Register> visit) {
    visitAll(operand, visit);
  }

  private static void visitAll(Operand operand, Consumer<Register> visit) {
    switch (operand) {
      case Operand.Reg(Register register) -> visit.accept(register);
      case Operand.Not(Register register) -> visit.accept(register);
      case Operand.Part part -> visit.accept(part.register());
      case Operand.Address(Operand.Reg(Register register), long offset) -> visit.accept(register);
      case Operand.Vector(var elements) -> elements.forEach(element -> visitAll(element, visit));
      case Operand.Arguments(var elements) -> elements.forEach(element -> visitAll(element, visit));
      case Operand.Pair(Operand one, Operand two) -> {
        visitAll(one, visit);
        visitAll(two, visit);
      }
      default -> {}
    }
  }
}
