package dev.doorbell.experiments.cli.command;

import dev.doorbell.core.problem.Problem;
import org.jspecify.annotations.Nullable;

/** A command line that cannot be understood; exit code 2. */
public final class UsageException extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient Problem problem;

  public UsageException(Problem problem) {
    super(problem.what());
    this.problem = problem;
  }

  /** Returns a usage exception of a problem whose text says it all; see {@link Problem}. */
  public static UsageException of(String code, @Nullable String where, String what) {
    return new UsageException(Problem.of(code, where, what));
  }

  /** Returns a usage exception of a problem with advice; see {@link Problem}. */
  public static UsageException of(String code, @Nullable String where, String what, String fix) {
    return new UsageException(Problem.of(code, where, what).fix(fix));
  }

  public Problem problem() {
    return problem;
  }
}
