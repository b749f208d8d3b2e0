package dev.doorbell.experiments.cli.results;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.cli.command.Show;
import dev.doorbell.experiments.cli.command.TextTable;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.results.compare.PointComparison;
import dev.doorbell.experiments.results.compare.RunComparison;
import dev.doorbell.experiments.stats.Interval;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.function.DoubleFunction;

/**
 * How far a second run is off a first, such as a model off measurements. The two bases stand in the
 * headings; what is compared are medians, and nobody is called better.
 */
final class Residuals {
  private static final double NEAR = 0.10;

  private final RunComparison comparison;
  private final List<Axis> axes;

  Residuals(RunComparison comparison) {
    this.comparison = comparison;
    this.axes = ComparisonReport.varying(comparison);
  }

  String text(boolean quiet) {
    TextTable table = new TextTable();
    for (Axis axis : axes) {
      if (axis.values().getFirst() instanceof Value.Whole) {
        table.right(axis.name());
      } else {
        table.left(axis.name());
      }
    }
    table.left("metric").right(heading(true)).left("[95 % CI]").right(heading(false));
    table.left("[95 % CI]").right("residual");
    for (PointComparison point : comparison.points()) {
      table.row(cells(point));
    }
    StringBuilder text = new StringBuilder(table.text());
    if (quiet) {
      return text.toString();
    }
    long near = comparison.points().stream().filter(p -> near(p.change().relative())).count();
    text.append(ComparisonReport.missing(comparison));
    text.append(
        "%d of %d within 10 %%; a residual is (%s - %s) / %s%n"
            .formatted(
                near, comparison.points().size(), heading(false), heading(true), heading(true)));
    basis(comparison.before().manifest().basis(), comparison.before().id(), text);
    basis(comparison.after().manifest().basis(), comparison.after().id(), text);
    return text.toString();
  }

  private static void basis(Basis basis, String run, StringBuilder text) {
    text.append("%s: %s%n".formatted(run, Show.basis(basis)));
  }

  /** What a column holds: the basis, and which run where both have the same. */
  private String heading(boolean first) {
    Basis before = comparison.before().manifest().basis();
    Basis after = comparison.after().manifest().basis();
    return before == after ? first ? "first" : "second" : (first ? before : after).word();
  }

  private static boolean near(double residual) {
    return Math.abs(residual) <= NEAR;
  }

  private List<String> cells(PointComparison point) {
    List<String> cells = new ArrayList<>();
    for (Axis axis : axes) {
      Value value = point.axes().get(axis.name());
      cells.add(value == null ? "-" : Show.value(value, axis.unit()));
    }
    boolean time = point.unit().equals("ns");
    DoubleFunction<String> show = time ? Show::micros : Show::digits;
    String unit = time ? "us" : point.unit();
    cells.add(unit.isEmpty() ? point.metric() : point.metric() + " " + unit);
    cells.add(show.apply(point.change().before()));
    cells.add(interval(point.change().beforeInterval(), show));
    cells.add(show.apply(point.change().after()));
    cells.add(interval(point.change().afterInterval(), show));
    cells.add(Show.percent(point.change().relative()));
    return cells;
  }

  private static String interval(Interval interval, DoubleFunction<String> show) {
    return "[%s, %s]".formatted(show.apply(interval.lower()), show.apply(interval.upper()));
  }

  /** For programs. */
  SequencedMap<String, Object> json() {
    SequencedMap<String, Object> json = new LinkedHashMap<>();
    json.put("first", comparison.before().id());
    json.put("first_basis", comparison.before().manifest().basis().word());
    json.put("second", comparison.after().id());
    json.put("second_basis", comparison.after().manifest().basis().word());
    List<SequencedMap<String, Object>> points = new ArrayList<>();
    for (PointComparison point : comparison.points()) {
      SequencedMap<String, Object> each = new LinkedHashMap<>();
      point.axes().forEach((name, value) -> each.put(name, value.text()));
      each.put("metric", point.metric());
      each.put("unit", point.unit());
      each.put("first", point.change().before());
      each.put("second", point.change().after());
      each.put("residual", ComparisonReport.finite(point.change().relative()));
      points.add(each);
    }
    json.put("points", points);
    return json;
  }
}
