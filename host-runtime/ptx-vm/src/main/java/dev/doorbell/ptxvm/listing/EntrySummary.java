package dev.doorbell.ptxvm.listing;

import dev.doorbell.ptxvm.ir.Function;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.PtxModule;
import dev.doorbell.ptxvm.ir.Variable;
import dev.doorbell.ptxvm.ir.Variable.StateSpace;
import dev.doorbell.ptxvm.memory.Layout;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Describes what launching an entry needs.
 *
 * @param parameters in order
 * @param parameterBytes of the whole block
 * @param registers that its code names; an assembler needs fewer
 * @param slots that the interpreter keeps them in
 * @param sharedBytes static shared memory of the entry and of the functions that it may call
 * @param dynamicShared whether it reads {@code extern .shared} memory, which the launch sizes
 * @param localBytes local variables of a thread, without the frames of calls
 */
public record EntrySummary(
    String name,
    int line,
    List<Parameter> parameters,
    long parameterBytes,
    int registers,
    int slots,
    long sharedBytes,
    boolean dynamicShared,
    long localBytes,
    int instructions) {

  /**
   * A parameter.
   *
   * @param type as declared, {@code u64}; {@code b8} for a structure
   * @param offset in the parameter block
   */
  public record Parameter(String name, String type, long offset, long bytes, int align) {}

  /**
   * The entries of a module, in the order of the file.
   *
   * @param listings of its functions
   */
  public static List<EntrySummary> of(PtxModule module, List<FunctionListing> listings) {
    return listings.stream()
        .filter(listing -> listing.function().entry())
        .map(listing -> of(module, listing))
        .toList();
  }

  private static EntrySummary of(PtxModule module, FunctionListing listing) {
    Function entry = listing.function();
    Layout block = new Layout();
    block.add(entry.parameters());
    List<Parameter> parameters = new ArrayList<>();
    for (Variable variable : entry.parameters()) {
      parameters.add(
          new Parameter(
              variable.name(),
              variable.type().ptx(),
              block.offset(variable),
              variable.bytes(),
              variable.align()));
    }
    Layout shared = new Layout();
    Layout local = new Layout();
    boolean dynamic = false;
    int instructions = 0;
    for (Function function : reachable(module, entry)) {
      instructions += function.code().size();
      for (Variable variable : sharedOf(function)) {
        dynamic |= variable.bytes() == 0;
        if (variable.bytes() != 0 && !shared.has(variable)) {
          shared.add(variable);
        }
      }
      function.locals().stream()
          .filter(variable -> variable.space() == StateSpace.LOCAL)
          .forEach(local::add);
    }
    return new EntrySummary(
        entry.name(),
        entry.line(),
        parameters,
        block.bytes(),
        entry.registers().size(),
        listing.slots().count(),
        shared.bytes(),
        dynamic,
        local.bytes(),
        instructions);
  }

  private static Set<Function> reachable(PtxModule module, Function entry) {
    Set<Function> found = new LinkedHashSet<>();
    List<Function> open = new ArrayList<>(List.of(entry));
    while (!open.isEmpty()) {
      Function function = open.removeLast();
      if (found.add(function)) {
        for (Instruction instruction : function.code()) {
          for (Operand operand : instruction.operands()) {
            Function callee =
                operand instanceof Operand.FunctionName(String name)
                    ? module.functions().get(name)
                    : null;
            if (callee != null) {
              open.add(callee);
            }
          }
        }
      }
    }
    return found;
  }

  /** Those declared inside of the function, and those of the module that it names. */
  private static Set<Variable> sharedOf(Function function) {
    Set<Variable> variables = new LinkedHashSet<>(function.shared());
    for (Instruction instruction : function.code()) {
      for (Operand operand : instruction.operands()) {
        Operand base =
            operand instanceof Operand.Address(Operand inside, long offset) ? inside : operand;
        if (base instanceof Operand.Symbol symbol
            && symbol.variable().space() == StateSpace.SHARED) {
          variables.add(symbol.variable());
        }
      }
    }
    return variables;
  }
}
