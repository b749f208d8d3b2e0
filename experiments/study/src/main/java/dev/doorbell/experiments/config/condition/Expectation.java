package dev.doorbell.experiments.config.condition;

import dev.doorbell.experiments.config.schema.Amounts;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * An outcome that theory or a publication predicts for a run, stated so that the run can be held
 * against it.
 */
public sealed interface Expectation {
  Scope scope();

  /** In words, without the source. */
  String text();

  /**
   * The points and the metric of an expectation.
   *
   * @param metric sampled, of which the medians count, or counted
   * @param where points that it speaks of; those for which all of these hold
   * @param source who says so: a document and its section, a formula
   * @param known why it is known not to be met; empty where it is not
   */
  record Scope(String metric, List<PointCondition> where, String source, String known) {
    public Scope {
      where = List.copyOf(where);
    }

    private String suffix() {
      return where.isEmpty() ? "" : ", where " + Expectation.text(where);
    }
  }

  /**
   * At each pair of points that differ in nothing but what {@code of} and {@code than} name, the
   * metric of one is greater.
   *
   * @param greater whether it is that of {@code of}; otherwise that of {@code than}
   * @param by the least factor
   */
  record Ordered(
      Scope scope, List<PointCondition> of, List<PointCondition> than, boolean greater, double by)
      implements Expectation {
    public Ordered {
      of = List.copyOf(of);
      than = List.copyOf(than);
    }

    @Override
    public String text() {
      return "%s of %s %s than of %s%s%s"
          .formatted(
              scope.metric,
              Expectation.text(of),
              greater ? "greater" : "less",
              Expectation.text(than),
              by == 1 ? "" : ", %s times at least".formatted(Amounts.number(by)),
              scope.suffix());
    }
  }

  /**
   * At each such pair the two metrics are the same.
   *
   * @param tolerance that is left to them, relative
   */
  record Equal(Scope scope, List<PointCondition> of, List<PointCondition> than, double tolerance)
      implements Expectation {
    public Equal {
      of = List.copyOf(of);
      than = List.copyOf(than);
    }

    @Override
    public String text() {
      return "%s of %s within %s of that of %s%s"
          .formatted(
              scope.metric,
              Expectation.text(of),
              share(tolerance),
              Expectation.text(than),
              scope.suffix());
    }
  }

  /**
   * The metric follows an axis, from each of its values to the next, everything else being equal.
   *
   * @param over axis, whose values count in the order of the config
   * @param tolerance by which a step may go the wrong way, or a level line move; relative
   */
  record Trend(Scope scope, String over, Course course, double tolerance) implements Expectation {
    public enum Course {
      RISES,
      FALLS,
      LEVEL;

      String word() {
        return this == LEVEL ? "is level" : name().toLowerCase(Locale.ROOT);
      }
    }

    @Override
    public String text() {
      String left = tolerance == 0 ? "" : ", within " + share(tolerance);
      return "%s %s over %s%s%s".formatted(scope.metric, course.word(), over, left, scope.suffix());
    }
  }

  /** The metric of each point lies between two bounds, which belong to the range. */
  record Within(Scope scope, double lower, double upper) implements Expectation {
    @Override
    public String text() {
      String range =
          lower == upper
              ? "is " + Amounts.metric(scope.metric, lower)
              : "from %s to %s"
                  .formatted(
                      Amounts.metric(scope.metric, lower), Amounts.metric(scope.metric, upper));
      return "%s %s%s".formatted(scope.metric, range, scope.suffix());
    }
  }

  /**
   * The metric of each point is what its closed form says.
   *
   * @param tolerance relative; of a ceiling, by how much it may be passed
   * @param plus what the form leaves out, in the metric's unit
   */
  record Modelled(Scope scope, double tolerance, double plus) implements Expectation {
    @Override
    public String text() {
      String more = plus == 0 ? "" : " and " + Amounts.metric(scope.metric, plus);
      String bound =
          tolerance == 0
              ? "what its closed form%s allows".formatted(more)
              : "%s of its closed form%s".formatted(share(tolerance), more);
      return "%s within %s%s".formatted(scope.metric, bound, scope.suffix());
    }
  }

  /**
   * Two lines cross once: the first is lower before, the second from there on.
   *
   * @param contrast which lines, and along which axis
   * @param lower least value of that axis at which they may
   * @param upper greatest
   */
  record Crossing(Scope scope, Contrast contrast, double lower, double upper)
      implements Expectation {
    @Override
    public String text() {
      return "%s of %s lower up to a %s from %s to %s, of %s from there%s"
          .formatted(
              scope.metric,
              contrast.first(),
              contrast.over(),
              Amounts.setting(contrast.over(), lower),
              Amounts.setting(contrast.over(), upper),
              contrast.second(),
              scope.suffix());
    }
  }

  private static String text(List<PointCondition> conditions) {
    return conditions.stream().map(PointCondition::shown).collect(Collectors.joining(" and "));
  }

  private static String share(double tolerance) {
    return Amounts.number(tolerance * 100) + " %";
  }

  /**
   * A pair of lines whose crossover is of interest.
   *
   * @param metric that is compared, such as {@code latency}
   * @param over axis along which the lines may cross, such as {@code size}
   * @param axis that tells the lines apart, such as {@code path}
   * @param first value of that axis, such as {@code pull}
   * @param second value of that axis, such as {@code push.memic}
   * @param by axis for each value of which the crossover is sought, such as {@code placement};
   *     empty for none
   */
  public record Contrast(
      String metric, String over, String axis, String first, String second, String by) {}
}
