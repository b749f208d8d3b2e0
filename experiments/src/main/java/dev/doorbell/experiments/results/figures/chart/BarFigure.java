package dev.doorbell.experiments.results.figures.chart;

import dev.doorbell.experiments.results.figures.chart.LineFigure.Quantified;
import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.layout.FigureNotes;
import java.util.List;
import java.util.stream.Stream;

/**
 * Groups of bars, one bar a series in each.
 *
 * @param groupTitle what the groups are
 * @param groups left to right
 * @param series left to right within a group
 * @param limits of the ordinate
 */
public record BarFigure(
    FigureNotes notes,
    String groupTitle,
    Quantified y,
    List<String> groups,
    List<String> series,
    List<Panel> panels,
    AxisLimits limits)
    implements Figure {

  /** Bars over the same axes. */
  public record Panel(String title, List<Bar> bars) {
    public Panel {
      bars = List.copyOf(bars);
    }
  }

  /** A median with its interval. */
  public record Bar(String group, String series, double value, double lower, double upper) {}

  public BarFigure {
    groups = List.copyOf(groups);
    series = List.copyOf(series);
    panels = List.copyOf(panels);
  }

  @Override
  public Drawing draw(double width) {
    return new BarChart(this, width).drawing();
  }

  @Override
  public List<Figure> panelByPanel() {
    return panels.size() == 1
        ? List.of(this)
        : panels.stream()
            .<Figure>map(
                panel ->
                    new BarFigure(
                        notes.ofPanel(panel.title()),
                        groupTitle,
                        y,
                        groups,
                        series,
                        List.of(panel),
                        limits))
            .toList();
  }

  Stream<Bar> bars() {
    return panels.stream().flatMap(panel -> panel.bars().stream());
  }
}
