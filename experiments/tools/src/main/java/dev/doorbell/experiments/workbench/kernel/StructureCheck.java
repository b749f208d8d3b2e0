package dev.doorbell.experiments.workbench.kernel;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.kernel.KernelDescriptor;
import dev.doorbell.experiments.config.kernel.KernelStructure;
import dev.doorbell.ptxvm.ir.PtxModule;
import dev.doorbell.ptxvm.ir.Variable;
import dev.doorbell.ptxvm.ir.Variable.StateSpace;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Checks the variables of a module that a descriptor's structures fill. */
final class StructureCheck {
  private StructureCheck() {}

  /** They have to be there, and large enough. */
  static List<Problem> of(KernelDescriptor descriptor, PtxModule module) {
    List<Problem> problems = new ArrayList<>();
    for (KernelStructure structure : descriptor.structures()) {
      structure
          .symbol()
          .ifPresent(
              symbol ->
                  variableProblem(structure, symbol, module)
                      .map(
                          what ->
                              Problem.of(
                                      "DB-K012",
                                      descriptor.place(
                                          "/args/%s/symbol".formatted(structure.name())),
                                      what)
                                  .effect("nothing would fill it"))
                      .ifPresent(problems::add));
    }
    return problems;
  }

  private static Optional<String> variableProblem(
      KernelStructure structure, String symbol, PtxModule module) {
    List<Variable> variables =
        module.variables().stream()
            .filter(one -> one.space() == StateSpace.GLOBAL || one.space() == StateSpace.CONST)
            .toList();
    Variable variable =
        variables.stream().filter(one -> one.name().equals(symbol)).findFirst().orElse(null);
    if (variable == null) {
      List<String> names = variables.stream().map(Variable::name).toList();
      String near = Nearest.suggestion(symbol, names);
      return Optional.of(
          "the module has no variable '%s'%s"
              .formatted(symbol, near.isEmpty() ? "  - it has " + String.join(", ", names) : near));
    }
    long bytes = structure.layout(1, 1).bytes();
    return bytes > variable.bytes()
        ? Optional.of(
            "%s has %d bytes, and variable '%s' has %d"
                .formatted(structure.name(), bytes, symbol, variable.bytes()))
        : Optional.empty();
  }
}
