package dev.doorbell.experiments.results.report;

import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.results.compare.PointComparison;
import dev.doorbell.experiments.results.compare.Rules;
import dev.doorbell.experiments.results.compare.RunComparison;
import dev.doorbell.experiments.results.compare.Verdict;
import dev.doorbell.experiments.results.print.Table;
import dev.doorbell.experiments.results.print.Table.Column;
import dev.doorbell.experiments.results.print.Units;
import dev.doorbell.experiments.stats.Change;
import dev.doorbell.experiments.stats.Interval;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Two runs on a page, point by point: what {@code doorbell compare} says, as a table. */
final class ComparedRuns {
  /** As {@code compare} has it where nothing else is said. */
  static final Rules RULES = new Rules(Set.of(), 0.05, 0.01);

  private final RunComparison comparison;
  private final List<Axis> axes;

  ComparedRuns(RunComparison comparison) {
    this.comparison = comparison;
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
    this.axes = varying.isEmpty() ? comparison.axes() : varying;
  }

  /** How many points came out which way. */
  String verdict() {
    Map<Verdict, Integer> counts = new EnumMap<>(Verdict.class);
    comparison.points().forEach(point -> counts.merge(point.verdict(), 1, Integer::sum));
    return counts.entrySet().stream()
        .map(entry -> entry.getValue() + " " + entry.getKey().text())
        .collect(Collectors.joining(", "));
  }

  /** Every point and metric that both runs have. */
  Table table() {
    List<Column> columns = new ArrayList<>();
    axes.forEach(
        axis ->
            columns.add(new Column(axis.name(), axis.values().getFirst() instanceof Value.Whole)));
    columns.add(new Column("metric", false));
    columns.add(new Column("verdict", false));
    for (String heading :
        List.of(
            "change",
            "[95 % interval]",
            "before",
            "[95 % interval]",
            "after",
            "[95 % interval]",
            "n",
            "p",
            "δ")) {
      columns.add(new Column(heading, true));
    }
    List<List<String>> rows = new ArrayList<>();
    comparison.points().forEach(point -> rows.add(row(point)));
    List<String> notes = new ArrayList<>();
    notes.add(
        "medians with 95 % bootstrap intervals; p: Mann-Whitney, Holm-corrected over "
            + "%d tests; δ: Cliff's delta; a change counts above %s %%; same machine: %s"
                .formatted(
                    comparison.points().size(),
                    Units.digits(100 * RULES.threshold(), 3),
                    comparison.sameMachine() ? "yes" : "no"));
    alone(comparison.onlyBefore(), comparison.before().id(), notes);
    alone(comparison.onlyAfter(), comparison.after().id(), notes);
    return new Table(columns, rows, notes);
  }

  private static void alone(List<String> points, String run, List<String> notes) {
    if (!points.isEmpty()) {
      notes.add("only in %s: %s".formatted(run, String.join(", ", points)));
    }
  }

  private List<String> row(PointComparison point) {
    List<String> cells = new ArrayList<>();
    for (Axis axis : axes) {
      cells.add(shown(point.axes().get(axis.name()), axis));
    }
    Change change = point.change();
    boolean time = point.unit().equals("ns");
    double scale = time ? 1000 : 1;
    cells.add((point.metric() + " " + (time ? "µs" : point.unit())).strip());
    cells.add(point.verdict().text());
    cells.add(percent(change.relative()) + " %");
    cells.add(
        "[%s, %s]"
            .formatted(percent(change.interval().lower()), percent(change.interval().upper())));
    cells.add(Units.digits(change.before() / scale, 4));
    cells.add(interval(change.beforeInterval(), scale));
    cells.add(Units.digits(change.after() / scale, 4));
    cells.add(interval(change.afterInterval(), scale));
    cells.add("%d / %d".formatted(point.before(), point.after()));
    cells.add(point.p() < 0.001 ? "<0.001" : Units.fixed(point.p(), 3));
    cells.add(Units.fixed(change.ranks().delta(), 2));
    return cells;
  }

  private static String shown(@Nullable Value value, Axis axis) {
    return switch (value) {
      case null -> "–";
      case Value.Whole(long whole) when axis.unit().equals("B") -> Units.exactBytes(whole);
      default -> value.text();
    };
  }

  private static String interval(Interval interval, double scale) {
    return "[%s, %s]"
        .formatted(
            Units.digits(interval.lower() / scale, 4), Units.digits(interval.upper() / scale, 4));
  }

  private static String percent(double ratio) {
    if (!Double.isFinite(ratio)) {
      return "–";
    }
    String size = Units.fixed(Math.abs(100 * ratio), 1);
    return size.equals("0.0") ? size : (ratio < 0 ? "−" : "+") + size;
  }
}
