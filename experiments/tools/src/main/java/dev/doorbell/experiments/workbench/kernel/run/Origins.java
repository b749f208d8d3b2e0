package dev.doorbell.experiments.workbench.kernel.run;

import dev.doorbell.ptxvm.ir.Function;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.Operand.Register;
import dev.doorbell.ptxvm.listing.FunctionListing;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Finds the origin of values in a function's registers, as far as single definitions tell. */
final class Origins {
  private static final int MOST_STEPS = 32;

  private final Function function;
  private final Map<Register, List<Instruction>> definitions = new HashMap<>();

  /**
   * An address in what a parameter points to.
   *
   * @param parameter its number
   * @param offset in bytes
   * @param loaded the value is what lies there; otherwise it is that address
   */
  record Origin(int parameter, long offset, boolean loaded) {}

  Origins(Function function) {
    this.function = function;
    for (Instruction instruction : function.code()) {
      for (Register register : FunctionListing.written(instruction)) {
        definitions.computeIfAbsent(register, _ -> new ArrayList<>()).add(instruction);
      }
    }
  }

  Optional<Origin> ofAddress(Instruction access) {
    for (Operand operand : access.operands()) {
      if (operand instanceof Operand.Address(Operand.Reg(Register base), long offset)) {
        return of(base, MOST_STEPS)
            .map(
                origin ->
                    origin.loaded()
                        ? origin
                        : new Origin(origin.parameter(), origin.offset() + offset, false));
      }
    }
    return Optional.empty();
  }

  private Optional<Origin> of(Register register, int steps) {
    List<Instruction> all = definitions.getOrDefault(register, List.of());
    if (all.size() != 1 || steps == 0) {
      return Optional.empty();
    }
    Instruction definition = all.getFirst();
    List<Operand> operands = definition.operands();
    if (operands.size() < 2) {
      return Optional.empty();
    }
    Operand source = operands.get(1);
    return switch (definition.name()) {
      case "mov", "cvta" ->
          source instanceof Operand.Reg(Register from) ? of(from, steps - 1) : Optional.empty();
      case "add" ->
          source instanceof Operand.Reg(Register from)
                  && operands.size() == 3
                  && operands.get(2) instanceof Operand.Int(long more)
              ? of(from, steps - 1).map(origin -> moved(origin, more))
              : Optional.empty();
      case "ld" ->
          source instanceof Operand.Address(Operand base, long offset)
              ? loaded(base, offset + place(operands.getFirst(), register, definition), steps)
              : Optional.empty();
      default -> Optional.empty();
    };
  }

  /** Moves an origin on; a field's value stays that field's when a number is added to it. */
  private static Origin moved(Origin origin, long more) {
    return origin.loaded() ? origin : new Origin(origin.parameter(), origin.offset() + more, false);
  }

  private Optional<Origin> loaded(Operand base, long offset, int steps) {
    if (base instanceof Operand.Symbol(var variable, long more, boolean _)) {
      int parameter = function.parameters().indexOf(variable);
      return parameter >= 0 && offset + more == 0
          ? Optional.of(new Origin(parameter, 0, false))
          : Optional.empty();
    }
    if (base instanceof Operand.Reg(Register from)) {
      return of(from, steps - 1)
          .filter(origin -> !origin.loaded())
          .map(origin -> new Origin(origin.parameter(), origin.offset() + offset, true));
    }
    return Optional.empty();
  }

  /** Bytes from the first element of a vector to that which goes to a register. */
  private static long place(Operand destination, Register register, Instruction load) {
    if (destination instanceof Operand.Vector(List<Operand> elements)) {
      for (int i = 0; i < elements.size(); i++) {
        if (elements.get(i) instanceof Operand.Reg(Register element) && element.equals(register)) {
          return (long) i * bytes(load);
        }
      }
    }
    return 0;
  }

  static int bytes(Instruction access) {
    String type = access.modifiers().isEmpty() ? "" : access.modifiers().getLast();
    return type.matches("[busf][0-9]+") ? Integer.parseInt(type.substring(1)) / Byte.SIZE : 0;
  }
}
