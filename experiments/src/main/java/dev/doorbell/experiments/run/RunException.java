package dev.doorbell.experiments.run;

import dev.doorbell.core.problem.Problem;

/** A run directory that cannot be written, or one that cannot be read back. */
public final class RunException extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient Problem problem;
  private final Kind kind;

  /** Which way round. */
  public enum Kind {
    /** What the user pointed at is no run directory, or a damaged one. */
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

  /** What the user pointed at cannot serve. */
  public static RunException unreadable(Problem problem) {
    return new RunException(Kind.UNREADABLE, problem);
  }

  /** What the user is told. */
  public Problem problem() {
    return problem;
  }

  /** Which way round. */
  public Kind kind() {
    return kind;
  }
}
