package dev.doorbell.experiments.cli.plan;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.config.document.SourcePositions;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import java.util.List;
import java.util.regex.Pattern;

/** Where an experiment says what a problem of its points is about. */
final class PlanCause {
  private static final Pattern WORDS = Pattern.compile("[^A-Za-z0-9._-]+");

  private PlanCause() {}

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
