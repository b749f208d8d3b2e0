package dev.doorbell.experiments.cli.results;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.cli.command.Show;
import dev.doorbell.experiments.cli.command.TextTable;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.results.compare.PointComparison;
import dev.doorbell.experiments.results.compare.RunComparison;
import dev.doorbell.experiments.results.compare.Verdict;
import dev.doorbell.experiments.stats.Change;
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
import java.util.function.DoubleFunction;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** A comparison of two runs, as text and as JSON. */
public final class ComparisonReport {
  private final RunComparison comparison;
  private final List<Axis> axes;

  public ComparisonReport(RunComparison comparison) {
    this.comparison = comparison;
    this.axes = varying(comparison);
  }

  /** The axes that tell points apart. */
  static List<Axis> varying(RunComparison comparison) {
    List<Axis> varying =
        comparison.axes().stream()
            .filter(
                axis ->
                    comparison.points().stream()
                            .map(point -> point.axes().get(axis.name()))
                            .distinct()
                            .count()
                        > 1)
            .toList();
    return varying.isEmpty() ? comparison.axes() : varying;
  }

  /**
   * The points that are asked for, and what all of them amount to.
   *
   * @param shown which of them have a row
   */
  public String text(Predicate<PointComparison> shown) {
    StringBuilder text = new StringBuilder();
    List<PointComparison> rows = comparison.points().stream().filter(shown).toList();
    if (!rows.isEmpty()) {
      text.append(table(rows));
    }
    text.append(doubts()).append(missing(comparison)).append(method()).append(summary());
    return text.toString();
  }

  private String table(List<PointComparison> rows) {
    boolean several = rows.stream().map(PointComparison::metric).distinct().count() > 1;
    TextTable table = new TextTable();
    for (Axis axis : axes) {
      if (axis.values().getFirst() instanceof Value.Whole) {
        table.right(axis.name());
      } else {
        table.left(axis.name());
      }
    }
    String metric = rows.getFirst().metric();
    String unit = rows.getFirst().unit();
    if (several) {
      table.left("metric");
    }
    table
        .right(
            several ? "before" : "%s before %s".formatted(metric, unit.equals("ns") ? "us" : unit))
        .left("[95 % CI]")
        .right("after")
        .left("[95 % CI]")
        .right("change")
        .left("[95 % CI]")
        .right("p")
        .right("delta")
        .left("verdict");
    for (PointComparison row : rows) {
      table.row(cells(row, several));
    }
    return table.text();
  }

  private List<String> cells(PointComparison row, boolean several) {
    List<String> cells = new ArrayList<>();
    for (Axis axis : axes) {
      Value value = row.axes().get(axis.name());
      cells.add(value == null ? "-" : Show.value(value, axis.unit()));
    }
    boolean time = row.unit().equals("ns");
    DoubleFunction<String> show = time ? Show::micros : Show::digits;
    if (several) {
      String unit = time ? "us" : row.unit();
      cells.add(unit.isEmpty() ? row.metric() : row.metric() + " " + unit);
    }
    Change change = row.change();
    cells.add(show.apply(change.before()));
    cells.add(interval(change.beforeInterval(), show));
    cells.add(show.apply(change.after()));
    cells.add(interval(change.afterInterval(), show));
    cells.add(Show.percent(change.relative()));
    cells.add(
        String.format(
            Locale.ROOT,
            "[%+.1f, %+.1f]",
            change.interval().lower() * 100,
            change.interval().upper() * 100));
    cells.add(p(row.p()));
    cells.add(String.format(Locale.ROOT, "%+.2f", change.ranks().delta()));
    cells.add(
        row.verdict() == Verdict.REGRESSED
            ? "REGRESSED (> %s %%)".formatted(plain(comparison.rules().threshold() * 100))
            : row.verdict().text());
    return cells;
  }

  private static String interval(Interval interval, DoubleFunction<String> show) {
    return "[%s, %s]".formatted(show.apply(interval.lower()), show.apply(interval.upper()));
  }

  private static String p(double p) {
    return p < 0.001 ? "<0.001" : String.format(Locale.ROOT, "%.3f", p);
  }

  private String doubts() {
    Map<SampleWarning.Kind, List<PointComparison>> points = new EnumMap<>(SampleWarning.Kind.class);
    Map<SampleWarning.Kind, SampleWarning> first = new EnumMap<>(SampleWarning.Kind.class);
    for (PointComparison point : comparison.points()) {
      for (SampleWarning doubt : point.doubts()) {
        List<PointComparison> same = points.computeIfAbsent(doubt.kind(), _ -> new ArrayList<>());
        if (!same.contains(point)) {
          same.add(point);
        }
        first.putIfAbsent(doubt.kind(), doubt);
      }
    }
    StringBuilder text = new StringBuilder();
    first.forEach(
        (kind, doubt) ->
            text.append(
                "doubt  %s in %d of %d comparisons, such as: %s%n  fix     %s%n"
                    .formatted(
                        kind.name().toLowerCase(Locale.ROOT),
                        points.getOrDefault(kind, List.of()).size(),
                        comparison.points().size(),
                        doubt.what(),
                        doubt.advice())));
    return text.toString();
  }

  /** Points without a counterpart. */
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
    return ("tests: Mann-Whitney, Holm-corrected over %d, alpha %s; delta is Cliff's; a change"
            + " counts above %s %%; same machine: %s%n")
        .formatted(
            comparison.points().size(),
            plain(comparison.rules().alpha()),
            plain(comparison.rules().threshold() * 100),
            comparison.sameMachine() ? "yes" : "no");
  }

  /** A number as its author wrote it, without what binary fractions add. */
  private static String plain(double value) {
    return new BigDecimal(value, new MathContext(4)).stripTrailingZeros().toPlainString();
  }

  private String summary() {
    Map<Verdict, Long> counts =
        comparison.points().stream()
            .collect(
                Collectors.groupingBy(
                    PointComparison::verdict,
                    () -> new EnumMap<>(Verdict.class),
                    Collectors.counting()));
    String parts =
        counts.entrySet().stream()
            .map(entry -> entry.getValue() + " " + entry.getKey().text())
            .collect(Collectors.joining(", "));
    Basis basis = comparison.before().manifest().basis();
    return "%s overall: %s%n%s%n".formatted(comparison.overall().text(), parts, Show.basis(basis));
  }

  /** For programs. */
  public SequencedMap<String, Object> json() {
    SequencedMap<String, Object> json = new LinkedHashMap<>();
    json.put("before", comparison.before().id());
    json.put("after", comparison.after().id());
    json.put("basis", comparison.before().manifest().basis().word());
    json.put("same_machine", comparison.sameMachine());
    json.put("alpha", comparison.rules().alpha());
    json.put("threshold", comparison.rules().threshold());
    json.put("overall", word(comparison.overall()));
    json.put("only_before", comparison.onlyBefore());
    json.put("only_after", comparison.onlyAfter());
    json.put("points", comparison.points().stream().map(ComparisonReport::json).toList());
    return json;
  }

  private static SequencedMap<String, Object> json(PointComparison point) {
    SequencedMap<String, Object> json = new LinkedHashMap<>();
    point.axes().forEach((name, value) -> json.put(name, value.text()));
    Change change = point.change();
    json.put("metric", point.metric());
    json.put("unit", point.unit());
    json.put("before", change.before());
    json.put("before_ci95", ends(change.beforeInterval()));
    json.put("before_n", point.before());
    json.put("after", change.after());
    json.put("after_ci95", ends(change.afterInterval()));
    json.put("after_n", point.after());
    json.put("change", finite(change.relative()));
    json.put("change_ci95", ends(change.interval()));
    json.put("p", change.ranks().p());
    json.put("p_holm", point.p());
    json.put("cliffs_delta", change.ranks().delta());
    json.put("verdict", word(point.verdict()));
    json.put("doubts", point.doubts());
    return json;
  }

  private static List<Object> ends(Interval interval) {
    return List.of(finite(interval.lower()), finite(interval.upper()));
  }

  /** JSON knows no infinity. */
  static Object finite(double value) {
    return Double.isFinite(value) ? (Object) value : String.valueOf(value);
  }

  private static String word(Verdict verdict) {
    return verdict.name().toLowerCase(Locale.ROOT);
  }
}
