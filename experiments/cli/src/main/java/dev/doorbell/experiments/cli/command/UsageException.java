package dev.doorbell.experiments.cli.command;

import dev.doorbell.core.problem.Problem;

/** A command line that cannot be understood; exit code 2. */
public final class UsageException extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient Problem problem;

  public UsageException(Problem problem) {
    super(problem.what());
    this.problem = problem;
  }

  /** Returns the problem to be printed. */
  public Problem problem() {
    return problem;
  }
}
