package dev.doorbell.experiments.results.figures.chart;

import dev.doorbell.experiments.results.figures.chart.LineFigure.Line;
import dev.doorbell.experiments.results.figures.chart.LineFigure.Point;
import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.layout.FigureNotes;
import dev.doorbell.experiments.stats.Interval;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Panels that share both axes, with lines in each.
 *
 * @param x abscissa
 * @param y ordinate
 * @param series names of all lines in the order of the legend; a line looks alike in all panels
 * @param stepped lines rise in steps, as shares of samples do, instead of joining points
 * @param limits of the axes
 */
public record LineFigure(
    FigureNotes notes,
    Quantified x,
    Quantified y,
    List<String> series,
    List<Panel> panels,
    boolean stepped,
    AxisLimits limits)
    implements Figure {
  private static final double CLOSE = 1.2;

  /** The quantity of an axis; {@code unit} is empty for a count. */
  public record Quantified(String title, String unit, boolean log) {}

  /** Lines over the same axes. */
  public record Panel(String title, List<Line> lines, List<Ceiling> ceilings, List<Mark> marks) {

    public boolean has(String series) {
      return lines.stream().anyMatch(line -> line.series().equals(series));
    }
  }

  /**
   * One line.
   *
   * @param points in ascending x
   * @param untested whether no published row tests any of them; drawn hollow
   * @param published x and y of rows that measured the same as a point
   */
  public record Line(
      String series, List<Point> points, boolean untested, List<double[]> published) {}

  /** A median with its interval. */
  public record Point(double x, double y, double lower, double upper) {
    boolean isZero() {
      return y == 0 && lower == 0 && upper == 0;
    }
  }

  /**
   * An upper bound by the model for one or more lines.
   *
   * @param series names of the lines
   * @param points x and y in ascending x
   */
  public record Ceiling(List<String> series, List<double[]> points) {}

  /** A crossover of two lines. */
  public record Mark(String first, String second, double x, Interval interval) {}

  public LineFigure {
    series = List.copyOf(series);
    panels = List.copyOf(panels);
    if (panels.isEmpty()) {
      throw new IllegalArgumentException("figure " + notes.name() + " has no panel");
    }
  }

  @Override
  public Drawing draw(double width) {
    return new LineChart(this, width).drawing();
  }

  @Override
  public List<Figure> panelByPanel() {
    return split(panels, this::only);
  }

  private LineFigure only(Panel panel) {
    return new LineFigure(
        notes.ofPanel(panel.title()),
        x,
        y,
        series.stream().filter(panel::has).toList(),
        List.of(panel),
        stepped,
        limits);
  }

  Stream<Line> lines() {
    return panels.stream().flatMap(panel -> panel.lines().stream());
  }

  boolean hasCeilings() {
    return panels.stream().anyMatch(panel -> !panel.ceilings().isEmpty());
  }

  /**
   * Returns true if the best two lines of some panel lie within a fifth of each other at half of
   * their common places, or more: what differs is then hardly seen.
   */
  public boolean isClose() {
    return panels.stream()
        .anyMatch(
            panel -> {
              Map<Double, List<Double>> places = new TreeMap<>();
              panel.lines().stream()
                  .flatMap(line -> line.points().stream())
                  .forEach(p -> places.computeIfAbsent(p.x(), _ -> new ArrayList<>()).add(p.y()));
              places.values().removeIf(v -> v.size() < 2 || !v.stream().allMatch(y -> y > 0));
              long close =
                  places.values().stream()
                      .map(values -> values.stream().sorted().toList())
                      .filter(
                          v ->
                              v.get(1) <= CLOSE * v.getFirst()
                                  || v.getLast() <= CLOSE * v.get(v.size() - 2))
                      .count();
              return close > 0 && 2 * close >= places.size();
            });
  }

  boolean hasUntested() {
    return lines().anyMatch(Line::untested);
  }

  boolean hasPublished() {
    return lines().anyMatch(line -> !line.published().isEmpty());
  }

  boolean hasMarks() {
    return panels.stream().anyMatch(panel -> !panel.marks().isEmpty());
  }
}
