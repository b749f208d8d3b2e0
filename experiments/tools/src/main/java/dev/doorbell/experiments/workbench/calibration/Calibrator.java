package dev.doorbell.experiments.workbench.calibration;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.EnvironmentException;
import java.util.ServiceLoader;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Measures the cost of a GPU's accesses. */
public interface Calibrator {
  static Calibrator find() {
    return ServiceLoader.load(Calibrator.class)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no Calibrator is on the class path"));
  }

  /**
   * The request of a measurement.
   *
   * @param gpu {@code vm} or {@code cuda:N}
   * @param topology name or path of the topology for virtual time; a real GPU takes only the CPU's
   *     own prices from it
   * @param samples of each quantity
   * @param largestGrid largest number of threads for bandwidth
   * @param interrupted polled between two measurements
   * @param progress receives the name of each measurement before it starts
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
   * @throws ConfigException when the topology cannot be read
   */
  Calibration measure(Request request) throws EnvironmentException, ConfigException;
}
