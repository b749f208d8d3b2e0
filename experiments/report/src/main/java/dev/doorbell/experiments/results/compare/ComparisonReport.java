package dev.doorbell.experiments.results.compare;

import dev.doorbell.core.problem.Typed;
import dev.doorbell.experiments.config.schema.Amounts;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.results.print.JUnitXml;
import dev.doorbell.experiments.results.print.Screen;
import dev.doorbell.experiments.results.print.Table;
import dev.doorbell.experiments.results.print.TableBuilder;
import dev.doorbell.experiments.stats.Interval;
import dev.doorbell.experiments.stats.SampleWarning;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A comparison of two runs as text, as a table and as JSON. */
public final class ComparisonReport {
  private final RunComparison comparison;

  public ComparisonReport(RunComparison comparison) {
    this.comparison = comparison;
  }

  /**
   * Rows of some points, and the verdict on all of them.
   *
   * @param shown selects the points that have a row
   * @param width of the terminal
   */
  public String text(Predicate<PointComparison> shown, int width) {
    List<PointComparison> rows = comparison.points().stream().filter(shown).toList();
    return (rows.isEmpty() ? "" : table(rows).text(width))
        + Screen.folded(
            differences(comparison)
                + warnings()
                + missing(comparison)
                + method()
                + "%s overall: %s%n%s%n"
                    .formatted(
                        comparison.overall().text(),
                        verdicts(),
                        Screen.basis(comparison.before().manifest().basis())),
            width)
        + again();
  }

  private String again() {
    int repeats =
        comparison.points().stream()
            .filter(point -> point.verdict() == ChangeVerdict.UNDECIDED)
            .mapToInt(comparison::repeatsToDecide)
            .max()
            .orElse(0);
    String option = comparison.byProcess() ? "--processes" : "--repeat";
    return repeats == 0
        ? ""
        : Stream.of(comparison.before(), comparison.after())
            .map(run -> run.manifest().arguments())
            .filter(words -> words.contains("run") && !words.contains("--resume"))
            .map(words -> "decide   %s%n".formatted(Typed.command(with(words, option, repeats))))
            .distinct()
            .collect(Collectors.joining());
  }

  private static List<String> with(List<String> words, String option, int value) {
    List<String> line = new ArrayList<>();
    for (int i = 0; i < words.size(); i++) {
      if (words.get(i).equals(option)) {
        i++;
      } else if (!words.get(i).startsWith(option + "=")) {
        line.add(words.get(i));
      }
    }
    line.addAll(List.of(option, Integer.toString(value)));
    return line;
  }

  private Table table(List<PointComparison> rows) {
    boolean several = rows.stream().map(PointComparison::metric).distinct().count() > 1;
    TableBuilder<PointComparison> table = new TableBuilder<>();
    Screen.axes(table, varying(comparison), PointComparison::axes);
    PointComparison first = rows.getFirst();
    if (several) {
      table.left("metric", row -> (row.metric() + " " + Screen.unit(row.unit())).strip());
    }
    return table
        .group("values")
        .right("n", ComparisonReport::samples)
        .right(
            several
                ? "before"
                : "%s before %s".formatted(first.metric(), Screen.unit(first.unit())),
            row -> Screen.metric(row.change().before(), row.unit()))
        .right("after", row -> Screen.metric(row.change().after(), row.unit()))
        .group("change")
        .right("change", row -> Screen.percent(row.change().relative()))
        .left(
            "[95 % CI]",
            row ->
                row.change()
                    .interval()
                    .map(ci -> format("[%+.1f, %+.1f]", ci.lower() * 100, ci.upper() * 100))
                    .orElse("-"))
        .right("delta", row -> format("%+.2f", row.change().ranks().delta()))
        .right("p", row -> row.p().isPresent() ? p(row.p().getAsDouble()) : "-")
        .left("verdict", this::verdict)
        .table(rows, List.of());
  }

  /** The number of samples in both runs, or in each. */
  private static String samples(PointComparison row) {
    return row.before() == row.after()
        ? Integer.toString(row.before())
        : "%d / %d".formatted(row.before(), row.after());
  }

  private static String p(double value) {
    return value < 0.001 ? "<0.001" : format("%.3f", value);
  }

  private String verdict(PointComparison row) {
    return switch (row.verdict()) {
      case REGRESSED ->
          "REGRESSED (> %s %%)".formatted(plain(comparison.rules().threshold() * 100));
      case UNDECIDED ->
          "undecided (n = %d; run with --%s %d)"
              .formatted(
                  Math.min(row.before(), row.after()),
                  comparison.byProcess() ? "processes" : "repeat",
                  comparison.repeatsToDecide(row));
      default -> row.verdict().text();
    };
  }

  static List<Axis> varying(RunComparison comparison) {
    Function<Axis, Long> values =
        axis ->
            comparison.points().stream()
                .map(point -> point.axes().get(axis.name()))
                .distinct()
                .count();
    List<Axis> varying = comparison.axes().stream().filter(axis -> values.apply(axis) > 1).toList();
    return varying.isEmpty() ? comparison.axes() : varying;
  }

  @SuppressWarnings("AnnotateFormatMethod") // the annotation would be a dependency
  private static String format(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }

  private String warnings() {
    Map<SampleWarning.Kind, Integer> points = new EnumMap<>(SampleWarning.Kind.class);
    Map<SampleWarning.Kind, SampleWarning> first = new EnumMap<>(SampleWarning.Kind.class);
    for (PointComparison point : comparison.points()) {
      point.warnings().stream()
          .map(SampleWarning::kind)
          .distinct()
          .forEach(kind -> points.merge(kind, 1, Integer::sum));
      point.warnings().forEach(warning -> first.putIfAbsent(warning.kind(), warning));
    }
    return first.values().stream()
        .map(
            warning ->
                "warning  %s in %d of %d comparisons, such as: %s%n  fix      %s%n"
                    .formatted(
                        warning.kind().word(),
                        points.getOrDefault(warning.kind(), 0),
                        comparison.points().size(),
                        warning.what(),
                        warning.advice()))
        .collect(Collectors.joining());
  }

  static String differences(RunComparison comparison) {
    return comparison.differences().stream()
        .map(
            each ->
                "differs  %s: %s -> %s%n"
                    .formatted(
                        each.setting(),
                        amount(each.setting(), each.before()),
                        amount(each.setting(), each.after())))
        .collect(Collectors.joining());
  }

  private static String amount(String setting, Value value) {
    return value instanceof Value.Whole(long number)
        ? Amounts.setting(setting, (double) number)
        : value.text();
  }

  static String missing(RunComparison comparison) {
    return missing(comparison.onlyBefore(), comparison.before().id())
        + missing(comparison.onlyAfter(), comparison.after().id());
  }

  private static String missing(List<String> points, String run) {
    return points.isEmpty()
        ? ""
        : "only in %s: %d %s, such as %s%n"
            .formatted(
                run, points.size(), points.size() == 1 ? "point" : "points", points.getFirst());
  }

  private String method() {
    int tests = comparison.tests();
    int exact = comparison.points().size() - tests;
    return (tests == 0
            ? ""
            : "tests: Mann-Whitney, Holm-corrected over %d, alpha %s; delta is Cliff's%n"
                .formatted(tests, plain(comparison.rules().alpha())))
        + (exact == 0
            ? ""
            : "%d of %d repeat exactly in virtual time: the size of the change decides%n"
                .formatted(exact, comparison.points().size()))
        + (comparison.byProcess()
            ? "wall time: n counts processes, each by its median%n".formatted()
            : "")
        + "a change counts above %s %%; both ran on the same host: %s%n"
            .formatted(
                plain(comparison.rules().threshold() * 100),
                comparison.sameMachine() ? "yes" : "no");
  }

  /** A number as its author wrote it, without the digits that binary fractions add. */
  private static String plain(double value) {
    return new BigDecimal(value, new MathContext(4)).stripTrailingZeros().toPlainString();
  }

  public String verdicts() {
    Map<ChangeVerdict, Long> counts =
        comparison.points().stream()
            .collect(
                Collectors.groupingBy(
                    PointComparison::verdict,
                    () -> new EnumMap<>(ChangeVerdict.class),
                    Collectors.counting()));
    return counts.entrySet().stream()
        .map(entry -> entry.getValue() + " " + entry.getKey().text())
        .collect(Collectors.joining(", "));
  }

  /** A test case for each point and metric, and for each point that has vanished. */
  public List<JUnitXml.Case> cases() {
    List<JUnitXml.Case> cases = new ArrayList<>();
    for (PointComparison point : comparison.points()) {
      String name =
          point.axes().entrySet().stream()
              .map(axis -> axis.getKey() + "=" + axis.getValue().text())
              .collect(Collectors.joining(","));
      JUnitXml.Outcome outcome =
          switch (point.verdict()) {
            case REGRESSED -> JUnitXml.Outcome.FAILED;
            case UNDECIDED -> JUnitXml.Outcome.UNDECIDED;
            case NO_CHANGE, WITHIN_NOISE, IMPROVED -> JUnitXml.Outcome.PASSED;
          };
      String message =
          "%s %s from %s to %s %s: %s"
              .formatted(
                  point.metric(),
                  Screen.percent(point.change().relative()),
                  Screen.metric(point.change().before(), point.unit()),
                  Screen.metric(point.change().after(), point.unit()),
                  Screen.unit(point.unit()),
                  verdict(point));
      cases.add(new JUnitXml.Case(point.metric(), name, outcome, message));
    }
    for (String point : comparison.onlyBefore()) {
      cases.add(
          new JUnitXml.Case(
              "points", point, JUnitXml.Outcome.FAILED, "no result for a point of the baseline"));
    }
    return cases;
  }

  public SequencedMap<String, Object> json() {
    SequencedMap<String, Object> json = new LinkedHashMap<>();
    json.put("before", comparison.before().id());
    json.put("after", comparison.after().id());
    json.put("basis", comparison.before().manifest().basis().word());
    json.put("same_machine", comparison.sameMachine());
    SequencedMap<String, Object> differs = new LinkedHashMap<>();
    comparison
        .differences()
        .forEach(
            each ->
                differs.put(each.setting(), List.of(each.before().text(), each.after().text())));
    json.put("differs", differs);
    json.put("alpha", comparison.rules().alpha());
    json.put("threshold", comparison.rules().threshold());
    json.put("overall", word(comparison.overall()));
    json.put("only_before", comparison.onlyBefore());
    json.put("only_after", comparison.onlyAfter());
    List<Object> points = new ArrayList<>();
    for (PointComparison point : comparison.points()) {
      SequencedMap<String, Object> each = json(point);
      if (point.verdict() == ChangeVerdict.UNDECIDED) {
        each.put(
            comparison.byProcess() ? "processes" : "repeat", comparison.repeatsToDecide(point));
      }
      points.add(each);
    }
    json.put("points", points);
    return json;
  }

  private static SequencedMap<String, Object> json(PointComparison point) {
    SequencedMap<String, Object> json = new LinkedHashMap<>();
    point.axes().forEach((name, value) -> json.put(name, value.text()));
    json.put("metric", point.metric());
    json.put("unit", point.unit());
    json.put("before", point.change().before());
    point.change().beforeInterval().ifPresent(ci -> json.put("before_ci95", ends(ci)));
    json.put("before_n", point.before());
    json.put("after", point.change().after());
    point.change().afterInterval().ifPresent(ci -> json.put("after_ci95", ends(ci)));
    json.put("after_n", point.after());
    json.put("change", finite(point.change().relative()));
    point.change().interval().ifPresent(ci -> json.put("change_ci95", ends(ci)));
    json.put("cliffs_delta", point.change().ranks().delta());
    point
        .p()
        .ifPresent(
            corrected -> {
              json.put("p", point.change().ranks().p());
              json.put("p_holm", corrected);
            });
    json.put("verdict", word(point.verdict()));
    json.put("warnings", point.warnings());
    return json;
  }

  private static List<Object> ends(Interval interval) {
    return List.of(finite(interval.lower()), finite(interval.upper()));
  }

  /** An infinity as text, for JSON has none. */
  static Object finite(double value) {
    return Double.isFinite(value) ? (Object) value : String.valueOf(value);
  }

  private static String word(ChangeVerdict verdict) {
    return verdict.name().toLowerCase(Locale.ROOT);
  }
}
