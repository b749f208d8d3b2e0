package dev.doorbell.experiments.run;

import dev.doorbell.core.problem.Problem;

/** A run directory that cannot be written, or one that cannot be read back. */
public final class RunException extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient Problem problem;
  private final Kind kind;

  /** Kind of failure. */
  public enum Kind {
    /** The path is not a run directory, or the directory is damaged. */
    UNREADABLE,
    /** The machine would not take the files: full disk, missing permission. */
    UNWRITABLE
  }

  RunException(Kind kind, Problem problem, Throwable cause) {
    super(problem.what(), cause);
    this.kind = kind;
    this.problem = problem;
  }

  RunException(Kind kind, Problem problem) {
    super(problem.what());
    this.kind = kind;
    this.problem = problem;
  }

  /** The run that was named cannot be used for this. */
  public static RunException unreadable(Problem problem) {
    return new RunException(Kind.UNREADABLE, problem);
  }

  public Problem problem() {
    return problem;
  }

  public Kind kind() {
    return kind;
  }
}
