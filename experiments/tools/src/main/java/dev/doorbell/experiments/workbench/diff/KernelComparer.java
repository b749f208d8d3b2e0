package dev.doorbell.experiments.workbench.diff;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.experiments.kernels.UserKernel;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Runs a kernel on two GPUs, each beside the same software HCA, and compares what it leaves in
 * memory.
 */
public interface KernelComparer {
  static KernelComparer find() {
    return ServiceLoader.load(KernelComparer.class)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no KernelComparer is on the class path"));
  }

  /** Returns the names of Doorbell's own kernels that can be compared. */
  List<String> kernels();

  /**
   * The request of a comparison.
   *
   * @param kernel one of {@link #kernels}, or the name of {@code own}
   * @param own a kernel that the user brought
   * @param gpu {@code cuda:N}, compared with the virtual machine; or {@code vm}, whose compiler is
   *     compared with its interpreter; or {@code vm:order}, the interpreter with its threads in
   *     another order
   * @param first number of the first run; the parameters of run n depend on n and the seed alone
   * @param runs the number of runs; fewer if one fails
   * @param nanos timeout of a kernel; its waits time out after half of it
   * @param interrupted polled between two runs
   * @param listener called after each run
   */
  record Request(
      String kernel,
      Optional<UserKernel> own,
      String gpu,
      long seed,
      int first,
      int runs,
      long nanos,
      BooleanSupplier interrupted,
      Consumer<Run> listener) {}

  /**
   * One run on both GPUs.
   *
   * @param number of the run
   * @param parameters in words
   * @param compared bytes of memory that were compared
   * @param failed the kernel failed; nothing was compared
   * @param differences what failed or differs, in words; none when the run is right
   */
  record Run(
      int number, String parameters, long compared, boolean failed, List<String> differences) {}

  /**
   * The result of a comparison.
   *
   * @param between the two GPUs, in words
   * @param chance what was left out because it is not deterministic, in words
   */
  record Comparison(String between, List<String> chance) {}

  /** Runs it once on the virtual machine alone, by the parameters of the request's first run. */
  Run runAlone(Request request);

  /**
   * Runs and compares.
   *
   * @throws EnvironmentException when there is no such GPU; nothing was run then
   */
  Comparison compare(Request request) throws EnvironmentException;
}
