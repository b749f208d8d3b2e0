package dev.doorbell.experiments.plan;

import dev.doorbell.core.problem.Problem;

/**
 * A point that did not give a result: wrong bytes at the target, an error CQE, a deadline, a kernel
 * that cannot do what the point asks. The run goes on with the other points.
 */
public final class PointFailure extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient Problem problem;
  private final Kind kind;

  /** Endings of a point without a result. */
  public enum Kind {
    /** Something went wrong; the run ends with exit code 1. */
    FAILED,
    /** The data at the target was not what was sent; the run ends with exit code 1. */
    MISMATCH,
    /** It took too long; other points stand, and the run ends with exit code 7. */
    TIMEOUT,
    /** It cannot be done here, with the reason; not a failure. */
    WAIVED,
    /** The run was interrupted. */
    CANCELLED
  }

  public PointFailure(Kind kind, Problem problem) {
    super(problem.what());
    this.kind = kind;
    this.problem = problem;
  }

  public PointFailure(Kind kind, Problem problem, Throwable cause) {
    super(problem.what(), cause);
    this.kind = kind;
    this.problem = problem;
  }

  /** Returns the problem to be printed. */
  public Problem problem() {
    return problem;
  }

  /** Returns the kind of ending. */
  public Kind kind() {
    return kind;
  }
}
