package dev.doorbell.experiments.cli.explore;

import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.config.ConfigException;
import dev.doorbell.experiments.config.KernelDescriptor;
import dev.doorbell.experiments.config.Problem;
import dev.doorbell.experiments.explore.Scenario;
import dev.doorbell.experiments.kernels.KernelFolders;
import dev.doorbell.experiments.kernels.KernelWorkbench;
import dev.doorbell.experiments.kernels.UserKernel;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A kernel of the user's as it is explored: where it runs and how large, by its descriptor. */
record ExploredKernel(UserKernel kernel) {
  private static final int FEW_SLOTS = 2;

  /**
   * The kernel that the argument means: a descriptor, PTX that one describes, or a name in the
   * user's folder; null when it is something else.
   *
   * @param entry that was asked for by name, or null
   */
  static @Nullable ExploredKernel find(String argument, @Nullable String entry)
      throws UsageException {
    try {
      if (argument.endsWith(KernelDescriptor.ENDING)) {
        return usable(KernelFolders.read(Path.of(argument)));
      }
      if (argument.endsWith(".ptx")) {
        Path file = Path.of(argument);
        Path name = Objects.requireNonNullElse(file.getFileName(), file);
        Path descriptor =
            file.resolveSibling(name.toString().replaceFirst("[.]ptx$", KernelDescriptor.ENDING));
        if (!Files.isRegularFile(descriptor)) {
          return null;
        }
        UserKernel kernel = KernelFolders.read(descriptor);
        return entry == null || entry.equals(kernel.descriptor().entry()) ? usable(kernel) : null;
      }
      for (UserKernel kernel :
          KernelFolders.scan(List.of(KernelFolders.STANDARD), List.of()).kernels()) {
        if (kernel.name().equals(argument)) {
          return usable(kernel);
        }
      }
      return null;
    } catch (ConfigException e) {
      throw new UsageException(e.problems().getFirst());
    } catch (InvalidPathException e) {
      return null;
    }
  }

  private static ExploredKernel usable(UserKernel kernel) throws UsageException {
    List<Problem> problems = new ArrayList<>(KernelWorkbench.find().checkAbi(kernel));
    if (!kernel.descriptor().parameters().equals(List.of("queue_pairs", "job"))) {
      problems.add(
          Problem.of(
                  "DB-K012",
                  kernel.descriptor().place("/parameters"),
                  "kernels are explored that take [queue_pairs, job]")
              .effect("nothing was explored"));
    }
    if (!problems.isEmpty()) {
      throw new UsageException(problems.getFirst());
    }
    return new ExploredKernel(kernel);
  }

  /** What is explored. */
  Scenario.Program program() {
    KernelDescriptor descriptor = kernel.descriptor();
    return new Scenario.Program(
        descriptor.ptx(),
        descriptor.entry(),
        kernel.ptx(),
        new Scenario.Shape(
            descriptor.launch().bothRanks(),
            descriptor.launch().windowSlots(),
            switch (descriptor.verify()) {
              case RECEIVER -> Scenario.Compared.RECEIVER;
              case BOTH -> Scenario.Compared.BOTH;
            }));
  }

  int blocks() {
    return kernel.descriptor().launch().blocks();
  }

  int threads() {
    return Math.max(1, kernel.descriptor().launch().threads());
  }

  /** Few slots are soon used again, which is where a ring may go wrong. */
  int window() {
    return kernel.descriptor().measures() == KernelDescriptor.Measures.GOODPUT ? FEW_SLOTS : 0;
  }

  /** Who rings: the proxy for a kernel that takes that path alone. */
  String ringer() {
    return kernel.descriptor().paths().equals(Set.of("proxy")) ? "proxy" : "gpu";
  }
}
