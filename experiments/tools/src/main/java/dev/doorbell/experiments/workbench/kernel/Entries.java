package dev.doorbell.experiments.workbench.kernel;

import dev.doorbell.experiments.workbench.kernel.KernelWorkbench.KernelReport;
import dev.doorbell.ptxvm.ir.Function;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.PtxModule;
import dev.doorbell.ptxvm.ir.Variable;
import dev.doorbell.ptxvm.ir.Variable.StateSpace;
import dev.doorbell.ptxvm.listing.FunctionListing;
import dev.doorbell.ptxvm.memory.Layout;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Describes what launching the entries of a module needs. */
final class Entries {
  private Entries() {}

  /** The entries, in the order of the file. */
  static List<KernelReport.Entry> of(PtxModule module, List<FunctionListing> listings) {
    return listings.stream()
        .filter(listing -> listing.function().entry())
        .map(listing -> of(module, listing))
        .toList();
  }

  private static KernelReport.Entry of(PtxModule module, FunctionListing listing) {
    Function entry = listing.function();
    Layout block = new Layout();
    block.add(entry.parameters());
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
    PtxModule.Place place = module.place(entry.line());
    return new KernelReport.Entry(
        entry.name(),
        place.file(),
        place.line(),
        entry.parameters().stream()
            .map(
                each ->
                    new KernelReport.Parameter(
                        each.name(), each.type().ptx(), block.offset(each), each.bytes()))
            .toList(),
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
