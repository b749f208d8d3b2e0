package dev.doorbell.experiments.remote;

import dev.doorbell.core.problem.EnvironmentException;
import java.nio.file.Path;
import java.util.Map;
import java.util.ServiceLoader;

/**
 * HCAs for programs that know nothing of Doorbell and call libibverbs. Implemented where the back
 * ends are wired together.
 */
public interface ProgramHcas {
  /** Those of this build. */
  static ProgramHcas find() {
    return ServiceLoader.load(ProgramHcas.class)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no ProgramHcas is on the class path"));
  }

  /**
   * What the environment of a program has to say besides, so that it sees the devices of {@code
   * folder}. Compiles what has to be compiled for that.
   *
   * @param home of the checkout
   * @throws EnvironmentException when there is no compiler or no source
   */
  Map<String, String> environment(Path home, Path folder) throws EnvironmentException;

  /** Whether somebody serves devices in that folder. */
  boolean isServed(Path folder);

  /**
   * Makes devices for programs.
   *
   * @param folder where programs find them
   * @throws EnvironmentException when the folder cannot be used
   */
  ProgramDevices serve(Path folder, int devices) throws EnvironmentException;
}
