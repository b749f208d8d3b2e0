package dev.doorbell.experiments.cli.plan;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.config.document.SourcePositions;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;

/** Problems of a plan that only the runtime can find, each printed once for all its points. */
public final class PlanChecks {
  private PlanChecks() {}

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
        place(file, plan, first),
        "%s (%s%s)".formatted(first.what(), point, others),
        first.effect(),
        first.fix());
  }

  /** Stops when anything is wrong. */
  public static void demand(String file, Plan plan, ExperimentRuntime runtime)
      throws ConfigException {
    List<Problem> problems = problems(file, plan, runtime);
    ConfigException.throwIfAny(problems);
  }

  /** Stops when the chosen environment cannot run a point. */
  public static void demand(
      String file, Plan plan, ExperimentRuntime runtime, Environment environment)
      throws ConfigException {
    List<Problem> problems = problems(file, plan, point -> runtime.check(environment, point));
    ConfigException.throwIfAny(problems);
  }

  private static final Pattern WORDS = Pattern.compile("[^A-Za-z0-9._-]+");

  /**
   * The line and column, or the override, of the first thing that the problem names: a setting, a
   * value of an axis, a metric or a kernel; the file when it names none of what the file says.
   */
  static String place(String file, Plan plan, Problem problem) {
    Point point =
        plan.points().stream()
            .filter(candidate -> candidate.id().equals(problem.where()))
            .findFirst()
            .orElse(null);
    if (point == null) {
      return file;
    }
    SourcePositions positions = plan.config().positions();
    String start = positions.ofValue("");
    for (String word : WORDS.split(problem.what(), -1)) {
      String pointer = pointer(plan.config(), point, word);
      if (!pointer.isEmpty()) {
        String place = positions.ofValue(pointer);
        return place.equals(start) ? file : place;
      }
    }
    return file;
  }

  /** The pointer to what a word names; empty where it names nothing. */
  private static String pointer(ExperimentConfig config, Point point, String word) {
    for (Axis axis : config.axes()) {
      Value value = point.axes().get(axis.name());
      boolean named = value != null && (word.equals(axis.name()) || word.equals(value.text()));
      if (named) {
        return SourcePositions.child("/axes", axis.name()) + "/" + axis.values().indexOf(value);
      }
    }
    int metric = config.measure().metrics().indexOf(word);
    if (metric >= 0) {
      return "/measure/metrics/" + metric;
    }
    List<String> kernels = config.kernels();
    if (kernels.contains(word)) {
      return "/kernel/" + kernels.indexOf(word);
    }
    return config.fixed().containsKey(word) ? SourcePositions.child("/fixed", word) : "";
  }
}
