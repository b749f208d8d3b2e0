package dev.doorbell.experiments.results.figures.chart;

import dev.doorbell.experiments.config.figure.FigureStyle;
import dev.doorbell.experiments.config.figure.FigureStyle.Role;
import dev.doorbell.experiments.results.figures.chart.HeatFigure.Cell;
import dev.doorbell.experiments.results.figures.chart.HeatFigure.Panel;
import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.drawing.Identifier;
import dev.doorbell.experiments.results.figures.drawing.Node;
import dev.doorbell.experiments.results.figures.drawing.Node.Anchor;
import dev.doorbell.experiments.results.figures.drawing.Node.Dash;
import dev.doorbell.experiments.results.figures.drawing.Outline;
import dev.doorbell.experiments.results.figures.drawing.Paint;
import dev.doorbell.experiments.results.figures.drawing.PlotArea;
import dev.doorbell.experiments.results.figures.drawing.PlotAxis;
import dev.doorbell.experiments.results.figures.drawing.Theme;
import dev.doorbell.experiments.results.figures.drawing.Typeface;
import dev.doorbell.experiments.results.figures.layout.AxisBuilder;
import dev.doorbell.experiments.results.figures.layout.FigureNotes;
import dev.doorbell.experiments.results.figures.layout.Legend;
import dev.doorbell.experiments.results.figures.layout.Palette;
import dev.doorbell.experiments.results.figures.layout.Palette.Style;
import dev.doorbell.experiments.results.figures.layout.PanelLayout;
import dev.doorbell.experiments.results.print.Units;
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
  public record Panel(String title, List<Cell> cells) {}

  /**
   * One place.
   *
   * @param x index into {@code across}
   * @param y index into {@code down}
   * @param winner the series with the best median
   * @param ratio by which it is better than the second; NaN without a rival
   * @param apart whether it is called the winner: the intervals of the two do not overlap, and the
   *     lead counts
   */
  public record Cell(int x, int y, String winner, double ratio, boolean apart) {}

  boolean undecided() {
    return panels.stream().flatMap(panel -> panel.cells().stream()).anyMatch(c -> !c.apart());
  }

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
    return new Chart(width).drawing();
  }

  @Override
  public List<Figure> panelByPanel() {
    return split(
        panels,
        panel ->
            new HeatFigure(
                notes.ofPanel(panel.title()),
                xTitle,
                yTitle,
                across,
                down,
                series,
                List.of(panel)));
  }

  /**
   * Lays out the figure. A cell has the winner's colour, the stronger the farther it is ahead, and
   * its marker, so that it can be read in grey.
   */
  private final class Chart {

    private static final double ROW = 24;
    private static final Paint UNDECIDED = Paint.WHITE;
    private static final String NOBODY = "undecided";

    private static final Paint GAP = new Paint(0xDADADA);

    /** Tint of the smallest lead, and the lead from which on the colour is full. */
    private static final double PALEST = 0.25;

    private static final double FULL = 2;

    private final FigureStyle style;
    private final Palette palette;
    private final PanelLayout layout;

    Chart(double width) {
      this.style = notes().style();
      this.palette = Palette.of(series(), notes().style().palette());
      this.layout =
          new PanelLayout(
              width,
              Legend.aside(style, legend()),
              panels().size(),
              this::columns,
              AxisBuilder.rows(
                  yTitle(), down().stream().map(row -> style.shown(Role.ROW, row)).toList()),
              _ -> Math.min(220, ROW * down().size()));
    }

    Drawing drawing() {
      List<PanelLayout.Panel> panels = new ArrayList<>();
      for (Panel panel : panels()) {
        panels.add(new PanelLayout.Panel(panel.title(), 0, (area, out) -> cells(panel, area, out)));
      }
      return layout.draw(notes(), panels, legend());
    }

    private List<Legend.Item> legend() {
      List<Legend.Item> legend = new ArrayList<>();
      for (String series : series()) {
        legend.add(
            Legend.Item.square(
                style.shown(Role.SERIES, series), series, BarFigure.SAMPLE, palette.style(series)));
      }
      if (undecided()) {
        legend.add(
            new Legend.Item(
                NOBODY,
                Theme.INK,
                6,
                (at, middle) -> {
                  Outline box = Outline.rectangle(at, middle - 3, 6, 6);
                  return List.of(
                      new Node.Fill(box, UNDECIDED),
                      new Node.Stroke(box, Theme.FRAME, Theme.HAIR, Dash.NONE));
                },
                NOBODY));
      }
      if (gaps()) {
        legend.add(Legend.Item.box("no result", 6, 6, GAP));
      }
      return legend;
    }

    /** Every value where there is room, else every second, third ... */
    private PlotAxis columns(double panelWidth) {
      List<String> names =
          across().stream().map(value -> style.shown(Role.ABSCISSA, value)).toList();
      double widest =
          names.stream().mapToDouble(w -> Typeface.room(w, Theme.SMALL)).max().orElse(0);
      double slot = panelWidth / across().size();
      int step = (int) Math.max(1, Math.ceil((widest + 3) / (2 * slot)));
      List<String> shown = new ArrayList<>(names);
      for (int i = 0; i < shown.size(); i++) {
        shown.set(i, i % step == 0 ? shown.get(i) : "");
      }
      return AxisBuilder.words(xTitle(), shown);
    }

    private void cells(Panel panel, PlotArea area, List<Node> out) {
      int n = down().size();
      for (int[] gap : gaps(panel)) {
        double y = n - 1 - gap[1];
        out.add(new Node.Fill(rectangle(area, gap[0], y, gap[0] + 1, y + 1), GAP));
      }
      for (Cell cell : panel.cells()) {
        double left = area.x(cell.x()) + 0.3;
        double right = area.x(cell.x() + 1) - 0.3;
        double top = area.y(n - cell.y()) + 0.3;
        double bottom = area.y(n - cell.y() - 1) - 0.3;
        Outline outline = Outline.rectangle(left, top, right - left, bottom - top);
        double middle = (left + right) / 2;
        String text = ratio(cell.ratio());
        double size = fitting(text, right - left);
        boolean numbered = size > 0 && bottom - top > 14;
        List<Node> drawn = new ArrayList<>();
        if (cell.apart()) {
          Style look = palette.style(cell.winner());
          Paint ground = look.paint().tint(strength(cell));
          Paint ink = dark(ground) ? Paint.WHITE : Theme.INK;
          drawn.add(new Node.Fill(outline, ground));
          double markerAt = numbered ? (2 * top + bottom) / 3 - 0.5 : (top + bottom) / 2;
          drawn.addAll(look.marker().at(middle, markerAt, 0.8 * Theme.MARKER, ink));
          if (numbered) {
            drawn.add(new Node.Label(text, middle, bottom - 3.2, size, Anchor.MIDDLE, ink));
          }
        } else {
          drawn.add(new Node.Fill(outline, UNDECIDED));
          drawn.add(new Node.Stroke(outline, Theme.RULE, Theme.HAIR, Dash.NONE));
          if (numbered) {
            double base = (top + bottom) / 2 + Typeface.capHeight(size) / 2;
            drawn.add(new Node.Label(text, middle, base, size, Anchor.MIDDLE, Theme.QUIET));
          }
        }
        out.add(
            new Node.Group(
                "cell-%d-%d%s".formatted(cell.x(), cell.y(), Identifier.within(panel.title())),
                Legend.role(cell.apart() ? cell.winner() : NOBODY),
                drawn));
      }
    }

    private static Outline rectangle(PlotArea area, double x0, double y0, double x1, double y1) {
      return Outline.rectangle(
          area.x(x0), area.y(y1), area.x(x1) - area.x(x0), area.y(y0) - area.y(y1));
    }

    private static double strength(Cell cell) {
      double lead = Double.isNaN(cell.ratio()) ? 1 : Math.min(cell.ratio(), FULL);
      return 0.75 * (PALEST + (1 - PALEST) * (lead - 1) / (FULL - 1));
    }

    private static String ratio(double ratio) {
      return Double.isNaN(ratio)
          ? "–"
          : ratio < 9.995 ? Units.fixed(ratio, 2) : Units.digits(ratio, 3);
    }

    /** The largest size at which a text fits; 0 where none that can be read does. */
    private static double fitting(String text, double width) {
      for (double size : new double[] {Theme.SMALL, Theme.NOTE, 5}) {
        if (Typeface.room(text, size) + 1.5 <= width) {
          return size;
        }
      }
      return 0;
    }

    /** True for a ground of little luminance, by sRGB's weights of its primaries. */
    private static boolean dark(Paint paint) {
      return 0.2126 * paint.red() + 0.7152 * paint.green() + 0.0722 * paint.blue() < 110;
    }
  }
}
