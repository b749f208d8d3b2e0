package dev.doorbell.experiments.cli.plan;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Problems of a plan that only the runtime can find, each printed once for all its points. */
public final class PlanChecks {
  private PlanChecks() {}

  /** Everything that is wrong with the points of a plan. */
  static List<Problem> problems(String file, Plan plan, ExperimentRuntime runtime) {
    if (plan.points().isEmpty()) {
      return List.of(Problem.of("DB-C035", file, "no point is left: exclude takes every one away"));
    }
    return problems(file, plan, runtime::check);
  }

  private static List<Problem> problems(
      String file, Plan plan, Function<Point, List<Problem>> check) {
    record Complaint(String code, String what, String fix) {}
    Map<Complaint, List<Problem>> byText = new LinkedHashMap<>();
    for (Point point : plan.points()) {
      for (Problem problem : check.apply(point)) {
        byText
            .computeIfAbsent(
                new Complaint(problem.code(), problem.what(), String.valueOf(problem.fix())),
                _ -> new ArrayList<>())
            .add(problem);
      }
    }
    return byText.values().stream().map(same -> problems(file, plan, same)).toList();
  }

  private static Problem problems(String file, Plan plan, List<Problem> same) {
    Problem first = same.getFirst();
    String point = first.where() == null ? "a point" : "point " + first.where();
    String others = same.size() == 1 ? "" : " and %d more".formatted(same.size() - 1);
    return new Problem(
        first.code(),
        PlanCause.place(file, plan, first),
        "%s (%s%s)".formatted(first.what(), point, others),
        first.effect(),
        first.fix());
  }

  /** Stops when anything is wrong. */
  public static void demand(String file, Plan plan, ExperimentRuntime runtime)
      throws ConfigException {
    List<Problem> problems = problems(file, plan, runtime);
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
  }

  /** Stops when the chosen environment cannot run a point. */
  public static void demand(
      String file, Plan plan, ExperimentRuntime runtime, Environment environment)
      throws ConfigException {
    List<Problem> problems = problems(file, plan, point -> runtime.check(environment, point));
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
  }
}
