package dev.doorbell.experiments.results.compare;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.results.print.Screen;
import dev.doorbell.experiments.results.print.TableBuilder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * Errors of a second run against a first, such as of a model against measurements. The headings
 * name the two bases; medians are compared, and neither run is called better.
 */
public final class ResidualReport {
  private static final double NEAR = 0.10;

  private final RunComparison comparison;

  public ResidualReport(RunComparison comparison) {
    this.comparison = comparison;
  }

  /**
   * The error of each point, and how many are small.
   *
   * @param quiet leaves out everything but the rows
   * @param width of the terminal
   */
  public String text(boolean quiet, int width) {
    String first = heading(true);
    String second = heading(false);
    String word = first.equals("first") ? "difference" : "error";
    TableBuilder<PointComparison> table = new TableBuilder<>();
    String rows =
        Screen.axes(table, ComparisonReport.varying(comparison), PointComparison::axes)
            .left("metric", row -> (row.metric() + " " + Screen.unit(row.unit())).strip())
            .group(first)
            .right(first, row -> Screen.metric(row.change().before(), row.unit()))
            .left("[95 % CI]", row -> Screen.interval(row.change().beforeInterval(), row.unit()))
            .group(second)
            .right(second, row -> Screen.metric(row.change().after(), row.unit()))
            .left("[95 % CI]", row -> Screen.interval(row.change().afterInterval(), row.unit()))
            .right(word, row -> Screen.percent(row.change().relative()))
            .table(comparison.points(), List.of())
            .text(width);
    if (quiet) {
      return rows;
    }
    long near =
        comparison.points().stream()
            .filter(point -> Math.abs(point.change().relative()) <= NEAR)
            .count();
    return rows
        + ComparisonReport.differences(comparison)
        + ComparisonReport.missing(comparison)
        + "%d of %d within 10 %%; the %s is (%s - %s) / %s%n"
            .formatted(near, comparison.points().size(), word, second, first, first)
        + "%s: %s%n"
            .formatted(
                comparison.before().id(), Screen.basis(comparison.before().manifest().basis()))
        + "%s: %s%n"
            .formatted(
                comparison.after().id(), Screen.basis(comparison.after().manifest().basis()));
  }

  private String heading(boolean first) {
    Basis before = comparison.before().manifest().basis();
    Basis after = comparison.after().manifest().basis();
    return before == after ? first ? "first" : "second" : (first ? before : after).word();
  }

  /** The errors as a tree for JSON, under the name that they have always had there. */
  public SequencedMap<String, Object> json() {
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
