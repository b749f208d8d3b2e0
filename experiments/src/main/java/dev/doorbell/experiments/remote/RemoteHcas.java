package dev.doorbell.experiments.remote;

import dev.doorbell.core.problem.EnvironmentException;
import java.util.ServiceLoader;
import java.util.function.BooleanSupplier;

/** HCAs of more than one process. Implemented where the back ends are wired together. */
public interface RemoteHcas {
  /** Those of this build. */
  static RemoteHcas find() {
    return ServiceLoader.load(RemoteHcas.class)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no RemoteHcas is on the class path"));
  }

  /**
   * Opens an HCA for other processes.
   *
   * @throws EnvironmentException when a port is taken, or the plan has faults that are not a wire's
   */
  ServedHca serve(ServeOptions options) throws EnvironmentException;

  /** Measures WRITEs to a served HCA, checking that the last bytes arrived. */
  BenchReport bench(BenchOptions options) throws EnvironmentException;

  /**
   * Takes part in an all-to-all, as one process of it.
   *
   * @param interrupted asked now and then
   */
  AllToAllReport allToAll(AllToAllOptions options, BooleanSupplier interrupted)
      throws EnvironmentException;

  /**
   * The same with all ranks in this process, in virtual time over a switch that loses what its
   * buffer does not hold. The seed decides of the faults' chances, too.
   *
   * @param interrupted asked now and then
   */
  AllToAllReport virtualAllToAll(AllToAllOptions options, BooleanSupplier interrupted)
      throws EnvironmentException;
}
