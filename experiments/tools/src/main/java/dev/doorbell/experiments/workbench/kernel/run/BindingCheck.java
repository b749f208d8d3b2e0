package dev.doorbell.experiments.workbench.kernel.run;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.queue.generated.JobFields;
import dev.doorbell.core.queue.generated.QueuePairView;
import dev.doorbell.experiments.config.kernel.KernelDescriptor;
import dev.doorbell.experiments.config.kernel.KernelStructure;
import dev.doorbell.experiments.kernels.UserKernel;
import dev.doorbell.ptxvm.ir.Function;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.PtxModule;
import dev.doorbell.ptxvm.ir.Variable;
import dev.doorbell.ptxvm.ir.Variable.StateSpace;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Checks whether a kernel uses its parameters as what the descriptor says that they get. */
final class BindingCheck {
  private static final Set<String> ACCESSES = Set.of("ld", "st", "atom", "red");

  private BindingCheck() {}

  private record Read(long offset, int bytes) {
    /**
     * Returns true if a queue pair has a field of that size there; there may be several, side by
     * side.
     */
    boolean isOfQueuePair() {
      long at = offset % QueuePairView.BYTES;
      return at % bytes == 0 && bytes == (at >= 80 && at < 112 ? Integer.BYTES : Long.BYTES);
    }

    boolean isOfJob() {
      return offset < JobFields.BYTES
          && offset % bytes == 0
          && bytes == (offset >= 120 && offset < 160 ? Integer.BYTES : Long.BYTES);
    }
  }

  static List<Problem> of(UserKernel kernel, PtxModule module) {
    KernelDescriptor descriptor = kernel.descriptor();
    Function entry = module.functions().get(descriptor.entry());
    List<Problem> problems = new ArrayList<>();
    if (entry == null || entry.parameters().size() != descriptor.parameters().size()) {
      return problems;
    }
    checkVariables(descriptor, module, problems);
    Origins origins = new Origins(entry);
    for (int i = 0; i < descriptor.parameters().size(); i++) {
      String bound = descriptor.parameters().get(i);
      List<Read> reads = reads(entry, origins, i);
      if (bound.equals("queue_pairs") || bound.equals("job")) {
        boolean pair = bound.equals("queue_pairs");
        long strange = reads.stream().filter(read -> !fits(read, pair)).count();
        if (strange > 0 && reads.stream().allMatch(read -> fits(read, !pair))) {
          problems.add(
              Problem.of(
                      "DB-K012",
                      descriptor.place("/parameters/" + i),
                      "parameter %d gets %s, and is read as %s"
                          .formatted(i, name(pair), name(!pair)))
                  .effect("the kernel would take numbers for addresses")
                  .fix("parameters in the order of the entry: %s".formatted(swapped(descriptor))));
        }
      } else if (!AbiCheck.isAddress(descriptor, bound) && !reads.isEmpty()) {
        problems.add(
            Problem.of(
                    "DB-K012",
                    descriptor.place("/parameters/" + i),
                    "parameter %d is used as an address, and gets %s, a number".formatted(i, bound))
                .fix("name the parameters in the order of the entry"));
      }
    }
    return problems;
  }

  /** The variables that structures fill have to be there, and large enough. */
  private static void checkVariables(
      KernelDescriptor descriptor, PtxModule module, List<Problem> problems) {
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

  private static boolean fits(Read read, boolean pair) {
    return pair ? read.isOfQueuePair() : read.isOfJob();
  }

  private static String name(boolean pair) {
    return pair ? "the queue pairs" : "the job";
  }

  private static String swapped(KernelDescriptor descriptor) {
    return descriptor.parameters().stream()
        .map(
            name ->
                switch (name) {
                  case "queue_pairs" -> "job";
                  case "job" -> "queue_pairs";
                  default -> name;
                })
        .toList()
        .toString();
  }

  private static List<Read> reads(Function entry, Origins origins, int parameter) {
    List<Read> reads = new ArrayList<>();
    for (Instruction instruction : entry.code()) {
      if (!ACCESSES.contains(instruction.name()) || instruction.has("param")) {
        continue;
      }
      Optional<Origins.Origin> origin = origins.ofAddress(instruction);
      int bytes = Origins.bytes(instruction);
      if (origin.isPresent()
          && !origin.get().loaded()
          && origin.get().parameter() == parameter
          && origin.get().offset() >= 0
          && bytes > 0) {
        reads.add(new Read(origin.get().offset(), bytes));
      }
    }
    return reads;
  }
}
