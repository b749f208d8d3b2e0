package dev.doorbell.core.problem;

/** A requested device or program is missing on this machine, or broken; exit code 4. */
public final class EnvironmentException extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient Problem problem;

  public EnvironmentException(Problem problem) {
    super(problem.what());
    this.problem = problem;
  }

  /** The problem that is shown to the user. */
  public Problem problem() {
    return problem;
  }
}
