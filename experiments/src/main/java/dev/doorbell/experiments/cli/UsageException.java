package dev.doorbell.experiments.cli;

import dev.doorbell.experiments.config.Problem;

/** A command line that cannot be understood; exit code 2. */
final class UsageException extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient Problem problem;

  UsageException(Problem problem) {
    super(problem.what());
    this.problem = problem;
  }

  Problem problem() {
    return problem;
  }
}
