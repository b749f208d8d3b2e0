package dev.doorbell.ptxvm.parser;

import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.Operand.Register;
import dev.doorbell.ptxvm.ir.ScalarType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Names and labels of one {@code { }} block. Call sequences and inline assembly reuse the same
 * names in every block; an inner name hides an outer one.
 */
final class Scope {
  private final @Nullable Scope outer;
  private final Map<String, Operand> names = new HashMap<>();
  private final Map<String, Integer> labels = new HashMap<>();
  private final List<Family> families = new ArrayList<>();

  /** {@code %r<100>}: registers made when they are first named. */
  private record Family(String stem, int count, ScalarType type, List<String> parts) {}

  /** The halves of a register of 128 bits, the lower first. */
  static final List<String> HALVES = List.of(".lo", ".hi");

  /** The elements of a vector register. */
  static final List<String> ELEMENTS = List.of(".x", ".y", ".z", ".w");

  Scope(@Nullable Scope outer) {
    this.outer = outer;
  }

  @Nullable Scope outer() {
    return outer;
  }

  void declare(String name, Operand operand) {
    names.put(name, operand);
  }

  /** A label before instruction {@code index}; false when this block has one of that name. */
  boolean label(String name, int index) {
    return labels.putIfAbsent(name, index) == null;
  }

  /** The instruction behind a label of this block or of one around it, or null. */
  @Nullable Integer labelled(String name) {
    for (Scope scope = this; scope != null; scope = scope.outer) {
      Integer index = scope.labels.get(name);
      if (index != null) {
        return index;
      }
    }
    return null;
  }

  void declareFamily(String stem, int count, ScalarType type, List<String> parts) {
    families.add(new Family(stem, count, type, parts));
  }

  /**
   * A new register, or the vector of several.
   *
   * @param parts what is added to the name for each of them; none for a register
   */
  static Operand make(String name, ScalarType type, List<String> parts, List<Register> registers) {
    if (!parts.isEmpty()) {
      List<Operand> elements = new ArrayList<>();
      parts.forEach(part -> elements.add(make(name + part, type, List.of(), registers)));
      return new Operand.Vector(List.copyOf(elements));
    }
    Register register = new Register(name, type, registers.size());
    registers.add(register);
    return new Operand.Reg(register);
  }

  /**
   * Returns what {@code name} stands for here, or null. New registers are added to {@code
   * registers}.
   */
  @Nullable Operand find(String name, List<Register> registers) {
    for (Scope scope = this; scope != null; scope = scope.outer) {
      Operand known = scope.names.get(name);
      if (known != null) {
        return known;
      }
      for (Family family : scope.families) {
        if (name.startsWith(family.stem) && isMember(name, family)) {
          Operand operand = make(name, family.type, family.parts, registers);
          scope.names.put(name, operand);
          return operand;
        }
      }
    }
    return null;
  }

  private static boolean isMember(String name, Family family) {
    int digits = name.length() - family.stem.length();
    if (digits == 0 || digits > 9) {
      return false;
    }
    int index = 0;
    for (int i = family.stem.length(); i < name.length(); i++) {
      char c = name.charAt(i);
      if (c < '0' || c > '9') {
        return false;
      }
      index = index * 10 + c - '0';
    }
    return index < family.count;
  }
}
