package dev.doorbell.experiments.results.figures.chart;

import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.layout.FigureNotes;
import dev.doorbell.experiments.stats.Interval;
import java.util.List;
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

  /** A figure whose axes fit its data. */
  public LineFigure(
      FigureNotes notes,
      Quantified x,
      Quantified y,
      List<String> series,
      List<Panel> panels,
      boolean stepped) {
    this(notes, x, y, series, panels, stepped, AxisLimits.NONE);
  }

  /** What an axis measures; {@code unit} is empty for a count. */
  public record Quantified(String title, String unit, boolean log) {}

  /** Lines over the same axes. */
  public record Panel(String title, List<Line> lines, List<Ceiling> ceilings, List<Mark> marks) {
    public Panel {
      lines = List.copyOf(lines);
      ceilings = List.copyOf(ceilings);
      marks = List.copyOf(marks);
    }

    /** Whether the panel has the line of that name. */
    public boolean has(String series) {
      return lines.stream().anyMatch(line -> line.series().equals(series));
    }
  }

  /** One line, points in ascending x. */
  public record Line(String series, List<Point> points) {
    public Line {
      points = List.copyOf(points);
    }
  }

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
  public record Ceiling(List<String> series, List<double[]> points) {
    public Ceiling {
      series = List.copyOf(series);
      points = List.copyOf(points);
    }
  }

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
    return panels.size() == 1 ? List.of(this) : panels.stream().<Figure>map(this::only).toList();
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

  boolean hasMarks() {
    return panels.stream().anyMatch(panel -> !panel.marks().isEmpty());
  }
}
