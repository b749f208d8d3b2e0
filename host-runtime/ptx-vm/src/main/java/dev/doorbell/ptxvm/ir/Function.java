package dev.doorbell.ptxvm.ir;

import dev.doorbell.ptxvm.ir.Operand.Register;
import java.util.List;

/**
 * A kernel ({@code .entry}) or device function ({@code .func}).
 *
 * @param parameters in order; those of old-style functions passed in registers are refused
 * @param results of a function; an entry has none
 * @param locals {@code .local} variables and the {@code .param} variables of call sequences
 * @param shared {@code .shared} variables declared inside
 * @param defined false for a declaration without a body
 * @param line of its name in the PTX
 */
public record Function(
    String name,
    boolean entry,
    List<Variable> parameters,
    List<Variable> results,
    List<Register> registers,
    List<Variable> locals,
    List<Variable> shared,
    List<Instruction> code,
    boolean defined,
    int line) {

  /** The index where the control goes on after instruction {@code index}, besides the next one. */
  public static List<Integer> targets(Instruction instruction) {
    if (instruction.operands().isEmpty()) {
      return List.of();
    }
    if (instruction.name().equals("bra")
        && instruction.operands().getFirst() instanceof Operand.Target(int index)) {
      return List.of(index);
    }
    if (instruction.name().equals("brx")
        && instruction.operands().getLast() instanceof Operand.Targets(List<Integer> indices)) {
      return indices;
    }
    return List.of();
  }
}
