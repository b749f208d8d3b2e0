package dev.doorbell.experiments.scenario.kind;

import dev.doorbell.core.problem.Problem;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Collects what is impossible about a point. */
public final class Checks {
  private final String code;
  private final String point;
  private final List<Problem> problems;
  private final AtomicReference<@Nullable Problem> cause;

  /**
   * Checks of one point.
   *
   * @param code of problems that are added
   * @param point id of the point
   * @param problems are added to
   */
  public Checks(String code, String point, List<Problem> problems) {
    this(code, point, problems, new AtomicReference<>());
  }

  private Checks(
      String code, String point, List<Problem> problems, AtomicReference<@Nullable Problem> cause) {
    this.code = code;
    this.point = point;
    this.problems = problems;
    this.cause = cause;
  }

  /** Returns these checks with another code of problems. */
  public Checks code(String other) {
    return new Checks(other, point, problems, cause);
  }

  /** Names a problem that all others of the point follow from; the first one counts. */
  public void causeIf(boolean impossible, String what, String effect, String fix) {
    if (impossible) {
      cause.compareAndSet(null, new Problem(code, point, what, effect, fix));
    }
  }

  @Nullable Problem cause() {
    return cause.get();
  }

  /** Adds a problem if {@code impossible}. */
  public void refuseIf(boolean impossible, String what, String fix) {
    refuseIf(impossible, what, null, fix);
  }

  /** Adds a problem if {@code impossible}, with why it is one. */
  public void refuseIf(boolean impossible, String what, @Nullable String effect, String fix) {
    if (impossible) {
      problems.add(new Problem(code, point, what, effect, fix));
    }
  }
}
