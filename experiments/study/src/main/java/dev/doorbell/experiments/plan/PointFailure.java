package dev.doorbell.experiments.plan;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import org.jspecify.annotations.Nullable;

/**
 * A point that did not give a result: wrong bytes at the target, an error CQE, a deadline, a kernel
 * that cannot do what the point asks. The run goes on with the other points.
 */
public final class PointFailure extends ProblemException {
  private static final long serialVersionUID = 1L;

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
    this(kind, problem, null);
  }

  public PointFailure(Kind kind, Problem problem, @Nullable Throwable cause) {
    super(problem, cause);
    this.kind = kind;
  }

  /** Returns the kind of ending. */
  public Kind kind() {
    return kind;
  }
}
