package dev.doorbell.experiments.results.figures;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.run.RunData;
import java.util.List;

/** A figure that a run cannot give. */
public final class Unplottable extends ProblemException {
  private static final long serialVersionUID = 1L;

  /** It has no such figure, for a reason that was found elsewhere. */
  Unplottable(Problem problem) {
    super(problem, null);
  }

  static Unplottable axis(RunData run, String asked, List<String> names) {
    return new Unplottable(
        Problem.of(
                "DB-R020",
                run.runId(),
                "it has no axis '%s'%s".formatted(asked, Nearest.suggestion(asked, names)))
            .fix("its axes: " + String.join(", ", names)));
  }

  static Unplottable metric(RunData run, String asked) {
    List<String> names =
        run.rows().stream()
            .flatMap(row -> row.metrics().keySet().stream())
            .distinct()
            .sorted()
            .toList();
    return new Unplottable(
        Problem.of(
                "DB-R020",
                run.runId(),
                "it has no samples of '%s'%s".formatted(asked, Nearest.suggestion(asked, names)))
            .fix(
                names.isEmpty()
                    ? "no point of it has finished"
                    : "it has samples of " + String.join(", ", names)));
  }

  /** It has no such figure, for a reason that the user can do something about. */
  static Unplottable because(String run, String what, String fix) {
    return new Unplottable(Problem.of("DB-R021", run, what).fix(fix));
  }
}
