package dev.doorbell.ptxvm.ir;

import dev.doorbell.ptxvm.ir.Operand.Register;
import java.util.function.Consumer;

/** Registers that an instruction reads and writes. */
public final class Dataflow {
  private Dataflow() {}

  /** Calls {@code visit} for every register that is written. */
  public static void writes(Instruction instruction, Consumer<Register> visit) {
    if (hasResult(instruction)) {
      visitAll(instruction.operands().getFirst(), visit);
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

  /** True when the first operand is a destination; no address is one. */
  public static boolean hasResult(Instruction instruction) {
    if (instruction.operands().isEmpty()) {
      return false;
    }
    Operand first = instruction.operands().getFirst();
    return switch (instruction.name()) {
      case "bar", "barrier" -> instruction.has("red");
      case "call" -> first instanceof Operand.Arguments;
      default ->
          !(first instanceof Operand.Address)
              && !(first instanceof Operand.Arguments)
              && !Opcode.of(instruction.name()).silent();
    };
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
