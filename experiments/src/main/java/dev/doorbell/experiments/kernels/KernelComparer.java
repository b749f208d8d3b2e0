package dev.doorbell.experiments.kernels;

import dev.doorbell.experiments.plan.EnvironmentException;
import java.util.List;
import java.util.ServiceLoader;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Runs a kernel of the project on two GPUs, each beside the same software HCA, and compares what it
 * leaves in memory.
 */
public interface KernelComparer {
  /** The comparer of this build. */
  static KernelComparer find() {
    return ServiceLoader.load(KernelComparer.class)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no KernelComparer is on the class path"));
  }

  /** The kernels that it can run. */
  List<String> kernels();

  /**
   * What is to be compared.
   *
   * @param kernel one of {@link #kernels}
   * @param gpu {@code cuda:N}, compared with the virtual machine; or {@code vm}, whose compiler is
   *     compared with its interpreter
   * @param first number of the first run; the parameters of run n depend on n and the seed alone
   * @param runs how many
   * @param interrupted asked between two runs
   * @param heard hears of each run
   */
  record Request(
      String kernel,
      String gpu,
      long seed,
      int first,
      int runs,
      BooleanSupplier interrupted,
      Consumer<Run> heard) {}

  /**
   * One run, on both.
   *
   * @param number of the run
   * @param parameters in words
   * @param compared bytes of memory that were compared
   * @param differences what differs, in words; none when the run is right
   */
  record Run(int number, String parameters, long compared, List<String> differences) {
    public Run {
      differences = List.copyOf(differences);
    }
  }

  /**
   * Runs and compares.
   *
   * @return what the two GPUs are, in words
   * @throws EnvironmentException when there is no such GPU; nothing was run then
   */
  String compare(Request request) throws EnvironmentException;
}
