package dev.doorbell.core.problem;

/** A requested device or program is missing on this machine, or broken; exit code 4. */
public final class EnvironmentException extends ProblemException {
  private static final long serialVersionUID = 1L;

  public EnvironmentException(Problem problem) {
    super(problem, null);
  }
}
