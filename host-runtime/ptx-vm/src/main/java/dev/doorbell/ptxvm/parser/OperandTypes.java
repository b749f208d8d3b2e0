package dev.doorbell.ptxvm.parser;

import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.Operand.Register;
import dev.doorbell.ptxvm.ir.ScalarType;
import dev.doorbell.ptxvm.ir.ScalarType.Family;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether registers agree with the types of the instructions that name them, for the
 * instructions that most code consists of (PTX ISA, "Type Checking of Instructions and Operands").
 */
final class OperandTypes {
  private OperandTypes() {}

  /** Returns what does not agree, or null. */
  static @Nullable String mismatch(Instruction i) {
    List<ScalarType> types = new ArrayList<>();
    for (String modifier : i.modifiers()) {
      ScalarType type = ScalarType.of(modifier);
      if (type != null) {
        types.add(type);
      }
    }
    return switch (i.name()) {
      case "add",
          "sub",
          "mul",
          "mad",
          "fma",
          "min",
          "max",
          "and",
          "or",
          "xor",
          "not",
          "neg",
          "abs",
          "div",
          "rem",
          "mov" ->
          types.size() == 1 && !i.has("wide") ? all(i, 0, types.getFirst(), false) : null;
      case "ld", "st" -> types.size() == 1 ? all(i, 0, types.getFirst(), true) : null;
      case "shl", "shr" ->
          types.size() == 1 && i.operands().size() == 3
              ? firstOf(all(i, 0, 2, types.getFirst(), false), all(i, 2, 3, ScalarType.U32, false))
              : null;
      case "setp" -> types.size() == 1 ? all(i, 1, 3, types.getFirst(), false) : null;
      case "selp" ->
          types.size() == 1
              ? firstOf(all(i, 0, 3, types.getFirst(), false), all(i, 3, 4, ScalarType.PRED, false))
              : null;
      case "cvt" ->
          types.size() == 2 && i.operands().size() == 2
              ? firstOf(all(i, 0, 1, types.getFirst(), true), all(i, 1, 2, types.getLast(), true))
              : null;
      default -> null;
    };
  }

  private static @Nullable String firstOf(@Nullable String one, @Nullable String other) {
    return one != null ? one : other;
  }

  private static @Nullable String all(Instruction i, int from, ScalarType type, boolean wider) {
    return all(i, from, i.operands().size(), type, wider);
  }

  private static @Nullable String all(
      Instruction i, int from, int to, ScalarType type, boolean wider) {
    for (int at = from; at < Math.min(to, i.operands().size()); at++) {
      String mismatch = one(i, i.operands().get(at), type, wider);
      if (mismatch != null) {
        return mismatch;
      }
    }
    return null;
  }

  private static @Nullable String one(
      Instruction i, Operand operand, ScalarType type, boolean wider) {
    if (operand instanceof Operand.Vector(List<Operand> elements) && wider) {
      for (Operand element : elements) {
        String mismatch = one(i, element, type, true);
        if (mismatch != null) {
          return mismatch;
        }
      }
    }
    return operand instanceof Operand.Reg(Register register) && !agree(register.type(), type, wider)
        ? "register %s is .%s, which '%s' does not take"
            .formatted(register.name(), register.type().ptx(), i.opcode())
        : null;
  }

  /**
   * Returns true if a register can hold a value of an instruction's type.
   *
   * @param wider it may have more bits than that
   */
  private static boolean agree(ScalarType register, ScalarType type, boolean wider) {
    if (register == ScalarType.PRED || type == ScalarType.PRED) {
      return register == type;
    }
    boolean fits = wider ? register.bits() >= type.bits() : register.bits() == type.bits();
    return fits
        && switch (type.family()) {
          case UNSIGNED, SIGNED ->
              register.family() != Family.FLOAT && register.family() != Family.PACKED;
          case FLOAT, PACKED -> register == type || register.family() == Family.BITS;
          default -> true;
        };
  }
}
