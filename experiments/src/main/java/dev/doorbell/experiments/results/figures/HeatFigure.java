package dev.doorbell.experiments.results.figures;

import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.drawing.Provenance;
import java.util.ArrayList;
import java.util.List;
import java.util.SequencedMap;

/**
 * What a heat map shows: at each place of two axes, who is ahead, and by how much.
 *
 * @param across values of the horizontal axis, left to right
 * @param down values of the vertical axis, top to bottom
 * @param series all winners, in the order of the legend
 */
record HeatFigure(
    String name,
    String xTitle,
    String yTitle,
    List<String> across,
    List<String> down,
    List<String> series,
    List<Panel> panels,
    String basisNote,
    String samplesNote,
    Provenance provenance)
    implements Chart {

  /** Cells over the same axes. */
  record Panel(String title, List<Cell> cells) {
    Panel {
      cells = List.copyOf(cells);
    }
  }

  /**
   * One place.
   *
   * @param x index into {@code across}
   * @param y index into {@code down}
   * @param winner of the series; of those that compete where nobody is ahead
   * @param value its median
   * @param ratio by which it is better than the second; NaN where it had no rival
   * @param apart whether the intervals of the two do not overlap
   */
  record Cell(int x, int y, String winner, double value, double ratio, boolean apart) {}

  HeatFigure {
    across = List.copyOf(across);
    down = List.copyOf(down);
    series = List.copyOf(series);
    panels = List.copyOf(panels);
  }

  /** Whether there is a place where nobody is ahead. */
  boolean undecided() {
    return panels.stream().flatMap(panel -> panel.cells().stream()).anyMatch(c -> !c.apart());
  }

  /** Whether there is a place where nothing has a result. */
  boolean gaps() {
    return panels.stream().anyMatch(panel -> !gaps(panel).isEmpty());
  }

  /** Places of a panel without a result: indices into {@code across} and {@code down}. */
  List<int[]> gaps(Panel panel) {
    List<int[]> gaps = new ArrayList<>();
    for (int x = 0; x < across.size(); x++) {
      for (int y = 0; y < down.size(); y++) {
        int column = x;
        int row = y;
        if (panel.cells().stream().noneMatch(c -> c.x() == column && c.y() == row)) {
          gaps.add(new int[] {x, y});
        }
      }
    }
    return gaps;
  }

  @Override
  public Drawing draw(double width) {
    return HeatChart.draw(this, width);
  }

  @Override
  public List<HeatFigure> panelByPanel() {
    return panels.stream()
        .map(
            panel ->
                new HeatFigure(
                    name + "-" + panel.title(),
                    xTitle,
                    yTitle,
                    across,
                    down,
                    series,
                    List.of(panel),
                    basisNote,
                    samplesNote,
                    provenance.titled(provenance.title() + ", " + panel.title())))
        .toList();
  }

  @Override
  public SequencedMap<String, String> pgfplots() {
    return HeatPgf.of(this);
  }
}
