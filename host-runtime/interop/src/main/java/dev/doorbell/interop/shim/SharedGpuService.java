package dev.doorbell.interop.shim;

import dev.doorbell.core.Probe;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.SharedGpus;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import java.util.ServiceLoader;

/** The GPUs of this machine whose memory other processes may share. */
final class SharedGpuService {
  private SharedGpuService() {}

  /**
   * Opens them.
   *
   * @param option what the user has asked for
   * @throws EnvironmentException when there are none
   */
  static SharedGpus open(String option) throws EnvironmentException {
    SharedGpus.Provider provider =
        ServiceLoader.load(SharedGpus.Provider.class).findFirst().orElseThrow();
    Probe probe = provider.probe();
    if (!(probe instanceof Probe.Ready)) {
      throw none(option, probe.describe());
    }
    try {
      return provider.open();
    } catch (GpuException e) {
      throw none(option, String.valueOf(e.getMessage()));
    }
  }

  private static EnvironmentException none(String option, String what) {
    return new EnvironmentException(
        Problem.of("DB-E003", option, what).fix("leave it out where programs use no GPU"));
  }
}
