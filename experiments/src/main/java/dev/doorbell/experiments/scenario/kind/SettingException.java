package dev.doorbell.experiments.scenario.kind;

import dev.doorbell.core.problem.Problem;

/** A setting of a point has a value that its kind cannot use. */
public final class SettingException extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient Problem problem;

  SettingException(Problem problem) {
    super(problem.what());
    this.problem = problem;
  }

  /** The setting, and what to use instead. */
  public Problem problem() {
    return problem;
  }
}
