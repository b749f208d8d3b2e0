package dev.doorbell.experiments.results.figures;

import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.drawing.Provenance;
import dev.doorbell.experiments.stats.Interval;
import java.util.List;
import java.util.SequencedMap;

/**
 * What a line figure shows, with nothing said of how: panels that share both axes, lines in each.
 *
 * @param name of its files
 * @param x abscissa
 * @param y ordinate
 * @param series names of all lines in the order of the legend; a line looks alike in all panels
 * @param basisNote the basis word with what it means here, such as {@code modelled (virtual time)}
 * @param samplesNote what a point and its whisker are
 * @param stepped lines rise in steps, as shares of samples do, instead of joining points
 */
record LineFigure(
    String name,
    Quantified x,
    Quantified y,
    List<String> series,
    List<Panel> panels,
    String basisNote,
    String samplesNote,
    boolean stepped,
    Provenance provenance)
    implements Chart {

  /** What an axis measures; {@code unit} is empty for a count. */
  record Quantified(String title, String unit, boolean log) {}

  /** Lines over the same axes. */
  record Panel(String title, List<Line> lines, List<Ceiling> ceilings, List<Mark> marks) {
    Panel {
      lines = List.copyOf(lines);
      ceilings = List.copyOf(ceilings);
      marks = List.copyOf(marks);
    }

    /** Whether the panel has the line of that name. */
    boolean has(String series) {
      return lines.stream().anyMatch(line -> line.series().equals(series));
    }
  }

  /** One line, points in ascending x. */
  record Line(String series, List<Point> points) {
    Line {
      points = List.copyOf(points);
    }
  }

  /** A median with its interval. */
  record Point(double x, double y, double lower, double upper) {}

  /**
   * A bound that the model sets to one or more lines.
   *
   * @param series names of the lines that it bounds
   * @param points x and y in ascending x
   */
  record Ceiling(List<String> series, List<double[]> points) {
    Ceiling {
      series = List.copyOf(series);
      points = List.copyOf(points);
    }
  }

  /** Where two lines change places. */
  record Mark(String first, String second, double x, Interval interval) {}

  LineFigure {
    series = List.copyOf(series);
    panels = List.copyOf(panels);
    if (panels.isEmpty()) {
      throw new IllegalArgumentException("figure " + name + " has no panel");
    }
  }

  @Override
  public Drawing draw(double width) {
    return LineChart.draw(this, width);
  }

  /** One figure for each panel, named after it, with the lines that it has. */
  @Override
  public List<LineFigure> panelByPanel() {
    return panels.stream().map(this::only).toList();
  }

  @Override
  public SequencedMap<String, String> pgfplots() {
    return LinePgf.of(this);
  }

  private LineFigure only(Panel panel) {
    return new LineFigure(
        name + "-" + panel.title(),
        x,
        y,
        series.stream().filter(panel::has).toList(),
        List.of(panel),
        basisNote,
        samplesNote,
        stepped,
        provenance.titled(provenance.title() + ", " + panel.title()));
  }

  boolean hasCeilings() {
    return panels.stream().anyMatch(panel -> !panel.ceilings().isEmpty());
  }

  boolean hasMarks() {
    return panels.stream().anyMatch(panel -> !panel.marks().isEmpty());
  }
}
