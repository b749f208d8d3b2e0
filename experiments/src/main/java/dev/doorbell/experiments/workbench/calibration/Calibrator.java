package dev.doorbell.experiments.workbench.calibration;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.experiments.topology.TopologyException;
import java.util.ServiceLoader;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Measures what a GPU's accesses cost. */
public interface Calibrator {
  /** The calibrator of this build. */
  static Calibrator find() {
    return ServiceLoader.load(Calibrator.class)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no Calibrator is on the class path"));
  }

  /**
   * What is to be measured.
   *
   * @param gpu {@code vm} or {@code cuda:N}
   * @param topology name or path of what the virtual machine's virtual time goes by; a real GPU
   *     takes only the CPU's own prices from it
   * @param samples of each quantity
   * @param largestGrid bandwidth is measured with at most so many threads
   * @param interrupted asked between two measurements
   * @param progress hears what is measured next
   */
  record Request(
      String gpu,
      String topology,
      int samples,
      int largestGrid,
      BooleanSupplier interrupted,
      Consumer<String> progress) {}

  /**
   * Measures.
   *
   * @throws EnvironmentException when there is no such GPU, or a kernel of it failed
   * @throws TopologyException when the topology cannot be read
   */
  Calibration measure(Request request) throws EnvironmentException, TopologyException;
}
