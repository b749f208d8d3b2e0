package dev.doorbell.experiments.workbench.experts;

import java.util.ServiceLoader;
import java.util.function.BooleanSupplier;

/** Runs DeepEP's kernels, and holds what they leave against a plain computation. */
public interface Experts {
  /** Finds the one of this build. */
  static Experts find() {
    return ServiceLoader.load(Experts.class)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no Experts are on the class path"));
  }

  /**
   * Runs an exchange.
   *
   * @param interrupted polled during the run; stops it
   */
  ExpertOutcome run(ExpertRun run, BooleanSupplier interrupted);
}
