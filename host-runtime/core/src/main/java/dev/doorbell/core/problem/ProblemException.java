package dev.doorbell.core.problem;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A failure that the user is told as problems; its class decides the exit code. */
public abstract class ProblemException extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient List<Problem> problems;

  protected ProblemException(Problem problem, @Nullable Throwable cause) {
    super(problem.what(), cause);
    this.problems = List.of(problem);
  }

  protected ProblemException(String message, List<Problem> problems) {
    super(message);
    this.problems = List.copyOf(problems);
  }

  /** Every problem found, in the order of the file. */
  public final List<Problem> problems() {
    return problems;
  }

  /** The first problem, where there may be several. */
  public final Problem problem() {
    return problems.getFirst();
  }
}
