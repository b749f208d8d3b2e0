package dev.doorbell.experiments.results.figures.chart;

import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.layout.FigureNotes;
import java.util.List;

/**
 * Modelled values against measured ones, both axes logarithmic, with the line of equality and a
 * band about it. Quantities of several units share the axes: a point's distance from the line is a
 * ratio, whatever the unit.
 *
 * @param band half its width, relative: 0.1 is 10 %; points outside have their name beside them
 * @param points all positive
 */
public record ParityFigure(FigureNotes notes, double band, List<Point> points) implements Figure {
  private static final double WIDTH = 360;

  /**
   * One quantity.
   *
   * @param name of it; empty: it has none in the figure
   * @param series that it belongs to, such as its machine
   * @param fitted whether the model was fitted to it; drawn hollow
   */
  public record Point(
      String name, String series, String unit, boolean fitted, double measured, double modelled) {}

  public ParityFigure {
    points = List.copyOf(points);
    if (points.isEmpty()) {
      throw new IllegalArgumentException("figure " + notes.name() + " has no point");
    }
  }

  /** Neighbouring points differ by a few percent: a column is too narrow. */
  @Override
  public Drawing draw() {
    return draw(WIDTH);
  }

  @Override
  public Drawing draw(double width) {
    return new ParityChart(this).drawing(width);
  }

  boolean isOutside(Point point) {
    double ratio = point.modelled() / point.measured();
    return ratio < 1 - band || ratio > 1 + band;
  }
}
