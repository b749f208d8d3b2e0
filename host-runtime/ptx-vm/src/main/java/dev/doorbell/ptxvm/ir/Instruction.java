package dev.doorbell.ptxvm.ir;

import dev.doorbell.ptxvm.ir.Operand.Register;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A decoded instruction.
 *
 * @param name the opcode without modifiers, {@code ld}
 * @param modifiers the rest in the order of the source, without dots
 * @param guard its predicate, or null
 * @param line in the PTX, from 1
 * @param source where it comes from, or {@link SourceLine#NONE}
 */
public record Instruction(
    String name,
    List<String> modifiers,
    @Nullable Guard guard,
    List<Operand> operands,
    int line,
    SourceLine source) {

  /** {@code @p} or {@code @!p}. */
  public record Guard(Register predicate, boolean negated) {}

  /** The same with other operands; this one where {@code change} changes none. */
  @SuppressWarnings("ReferenceEquality") // an operand that did not change is the same object
  public Instruction with(UnaryOperator<Operand> change) {
    List<Operand> others = operands;
    for (int i = 0; i < operands.size(); i++) {
      Operand other = change.apply(operands.get(i));
      if (other != operands.get(i)) {
        others = others == operands ? new ArrayList<>(operands) : others;
        others.set(i, other);
      }
    }
    return others == operands
        ? this
        : new Instruction(name, modifiers, guard, List.copyOf(others), line, source);
  }

  /** The same with other modifiers and operands. */
  public Instruction with(List<String> others, List<Operand> those) {
    return new Instruction(name, List.copyOf(others), guard, List.copyOf(those), line, source);
  }

  /** The opcode with its modifiers, {@code ld.global.u32}. */
  public String opcode() {
    return modifiers.isEmpty() ? name : name + "." + String.join(".", modifiers);
  }

  public boolean has(String modifier) {
    return modifiers.contains(modifier);
  }

  /** True when control never goes on to the next instruction. */
  public boolean endsFlow() {
    return guard == null && Opcode.of(name).flow();
  }
}
