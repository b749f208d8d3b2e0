package dev.doorbell.experiments.results.figures.chart;

import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.layout.FigureNotes;
import java.util.ArrayList;
import java.util.List;

/**
 * The winner at each place of two axes, and its lead.
 *
 * @param across values of the horizontal axis, left to right
 * @param down values of the vertical axis, top to bottom
 * @param series all winners, in the order of the legend
 */
public record HeatFigure(
    FigureNotes notes,
    String xTitle,
    String yTitle,
    List<String> across,
    List<String> down,
    List<String> series,
    List<Panel> panels)
    implements Figure {

  /** Cells over the same axes. */
  public record Panel(String title, List<Cell> cells) {
    public Panel {
      cells = List.copyOf(cells);
    }
  }

  /**
   * One place.
   *
   * @param x index into {@code across}
   * @param y index into {@code down}
   * @param winner the series with the best median
   * @param value its median
   * @param ratio by which it is better than the second; NaN without a rival
   * @param apart whether it is called the winner: the intervals of the two do not overlap, and the
   *     lead counts
   */
  public record Cell(int x, int y, String winner, double value, double ratio, boolean apart) {}

  public HeatFigure {
    across = List.copyOf(across);
    down = List.copyOf(down);
    series = List.copyOf(series);
    panels = List.copyOf(panels);
  }

  /** Whether nobody is called the winner at any place. */
  boolean undecided() {
    return panels.stream().flatMap(panel -> panel.cells().stream()).anyMatch(c -> !c.apart());
  }

  /** Whether any place has no result. */
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
    return new HeatChart(this, width).drawing();
  }

  @Override
  public List<Figure> panelByPanel() {
    return panels.size() == 1
        ? List.of(this)
        : panels.stream()
            .<Figure>map(
                panel ->
                    new HeatFigure(
                        notes.ofPanel(panel.title()),
                        xTitle,
                        yTitle,
                        across,
                        down,
                        series,
                        List.of(panel)))
            .toList();
  }
}
