package dev.doorbell.experiments.run;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import org.jspecify.annotations.Nullable;

/** A run directory that cannot be written, or one that cannot be read back. */
public final class RunException extends ProblemException {
  private static final long serialVersionUID = 1L;

  private final Kind kind;

  /** Kind of failure. */
  public enum Kind {
    /** The path is not a run directory, or the directory is damaged. */
    UNREADABLE,
    /** The machine would not take the files: full disk, missing permission. */
    UNWRITABLE
  }

  RunException(Kind kind, Problem problem, @Nullable Throwable cause) {
    super(problem, cause);
    this.kind = kind;
  }

  RunException(Kind kind, Problem problem) {
    this(kind, problem, null);
  }

  /** The run that was named cannot be used for this. */
  public static RunException unreadable(Problem problem) {
    return new RunException(Kind.UNREADABLE, problem);
  }

  public Kind kind() {
    return kind;
  }
}
