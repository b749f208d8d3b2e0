package dev.doorbell.experiments.workbench.validation;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import java.util.ArrayList;
import java.util.List;

/** Makes the points of a config: those that {@code run} would run with the same settings. */
final class RowPoints {
  /** Rows are of real HCAs; the model's answer comes in virtual time, whatever the machine has. */
  private static final String EXPERIMENT =
      """
      experiment: validation
      question: What does the model say about a published row?
      kernel: put_price
      gpu: vm
      hca: soft
      clock: virtual
      axes: { placement: same-switch }
      measure: { metrics: [post], launches: 3, timeout: 5min }
      """;

  private final ExperimentRuntime runtime;
  private final ConfigReader reader;

  RowPoints(ExperimentRuntime runtime) {
    this.runtime = runtime;
    this.reader = new ConfigReader(runtime.names());
  }

  /**
   * The point of one term on a topology.
   *
   * @throws ConfigException when its settings name none, several, or one that cannot be run
   */
  Point point(Row row, RowConfig.Term term, String topology) throws ConfigException {
    List<String> overrides = new ArrayList<>(term.settings());
    overrides.add("placement=" + topology);
    overrides.add("metrics=" + term.metric());
    Plan plan;
    try {
      plan = Plan.of(reader.read(row.place(), EXPERIMENT, overrides));
    } catch (ConfigException e) {
      throw new ConfigException(e.problems().stream().map(each -> of(row, each)).toList());
    }
    if (plan.points().size() != 1) {
      throw new ConfigException(
          List.of(
              Problem.of(
                  "DB-C081",
                  row.place(),
                  "'%s' names %d points, and a row is one"
                      .formatted(String.join(" ", term.settings()), plan.points().size()))));
    }
    Point point = plan.points().getFirst();
    List<Problem> problems = runtime.check(point);
    if (!problems.isEmpty()) {
      throw new ConfigException(problems.stream().map(each -> of(row, each)).toList());
    }
    return point;
  }

  /** A problem at the row that it is about. */
  private static Problem of(Row row, Problem problem) {
    return new Problem(
        problem.code(), row.place(), problem.what(), problem.effect(), problem.fix());
  }
}
