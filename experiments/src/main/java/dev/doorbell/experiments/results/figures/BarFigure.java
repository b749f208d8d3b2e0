package dev.doorbell.experiments.results.figures;

import dev.doorbell.experiments.results.figures.LineFigure.Quantified;
import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.drawing.Provenance;
import java.util.List;
import java.util.SequencedMap;

/**
 * What a bar figure shows: groups of bars, one bar a series in each.
 *
 * @param groupTitle what the groups are
 * @param groups left to right
 * @param series left to right within a group
 */
record BarFigure(
    String name,
    String groupTitle,
    Quantified y,
    List<String> groups,
    List<String> series,
    List<Panel> panels,
    String basisNote,
    String samplesNote,
    Provenance provenance)
    implements Chart {

  /** Bars over the same axes. */
  record Panel(String title, List<Bar> bars) {
    Panel {
      bars = List.copyOf(bars);
    }
  }

  /** A median with its interval. */
  record Bar(String group, String series, double value, double lower, double upper) {}

  BarFigure {
    groups = List.copyOf(groups);
    series = List.copyOf(series);
    panels = List.copyOf(panels);
  }

  @Override
  public Drawing draw(double width) {
    return BarChart.draw(this, width);
  }

  @Override
  public List<BarFigure> panelByPanel() {
    return panels.stream()
        .map(
            panel ->
                new BarFigure(
                    name + "-" + panel.title(),
                    groupTitle,
                    y,
                    groups,
                    series,
                    List.of(panel),
                    basisNote,
                    samplesNote,
                    provenance.titled(provenance.title() + ", " + panel.title())))
        .toList();
  }

  @Override
  public SequencedMap<String, String> pgfplots() {
    return BarPgf.of(this);
  }
}
