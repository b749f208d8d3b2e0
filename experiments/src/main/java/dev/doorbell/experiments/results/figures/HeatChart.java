package dev.doorbell.experiments.results.figures;

import dev.doorbell.experiments.results.figures.HeatFigure.Cell;
import dev.doorbell.experiments.results.figures.HeatFigure.Panel;
import dev.doorbell.experiments.results.figures.Palette.Style;
import dev.doorbell.experiments.results.figures.PlotAxis.Tick;
import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.drawing.Ink;
import dev.doorbell.experiments.results.figures.drawing.Node;
import dev.doorbell.experiments.results.figures.drawing.Node.Anchor;
import dev.doorbell.experiments.results.figures.drawing.Node.Dash;
import dev.doorbell.experiments.results.figures.drawing.Outline;
import dev.doorbell.experiments.results.figures.drawing.Typeface;
import java.util.ArrayList;
import java.util.List;

/**
 * Lays out a {@link HeatFigure}. A cell has the winner's colour, the stronger the farther it is
 * ahead, and its marker, so that it can be read in grey.
 */
final class HeatChart {

  private static final double ROW = 24;
  static final Ink UNDECIDED = Ink.WHITE;
  static final String NOBODY = "undecided";

  /** The ground of places without a result. */
  static final Ink GAP = new Ink(0xDADADA);

  /** How pale the smallest lead is, and the lead from which on the colour is full. */
  private static final double PALEST = 0.25;

  private static final double FULL = 2;

  private final HeatFigure figure;
  private final Palette palette;

  private HeatChart(HeatFigure figure) {
    this.figure = figure;
    this.palette = Palette.of(figure.series());
  }

  /** How a figure is laid out, {@code width} points wide. */
  static Sheet sheet(HeatFigure figure, double width) {
    HeatChart chart = new HeatChart(figure);
    return new Sheet(
        width,
        figure.panels().size(),
        panel -> chart.across(panel),
        chart.down(),
        _ -> Math.min(220, ROW * figure.down().size()));
  }

  static Drawing draw(HeatFigure figure, double width) {
    HeatChart chart = new HeatChart(figure);
    Sheet sheet = sheet(figure, width);
    List<Sheet.Panel> panels = new ArrayList<>();
    for (Panel panel : figure.panels()) {
      panels.add(new Sheet.Panel(panel.title(), 0, (frame, out) -> chart.cells(panel, frame, out)));
    }
    List<Flow.Item> legend = new ArrayList<>();
    for (String series : figure.series()) {
      legend.add(BarChart.swatch(series, chart.palette.style(series)));
    }
    if (figure.undecided()) {
      legend.add(
          new Flow.Item(
              NOBODY,
              Theme.INK,
              6,
              (at, middle) ->
                  List.of(
                      new Node.Fill(Outline.rectangle(at, middle - 3, 6, 6), UNDECIDED),
                      new Node.Stroke(
                          Outline.rectangle(at, middle - 3, 6, 6),
                          Theme.FRAME,
                          Theme.HAIR,
                          Dash.NONE)),
              NOBODY));
    }
    if (figure.gaps()) {
      legend.add(
          new Flow.Item(
              "no result",
              Theme.INK,
              6,
              (at, middle) ->
                  List.of(new Node.Fill(Outline.rectangle(at, middle - 3, 6, 6), GAP))));
    }
    return sheet.draw(
        panels,
        new Sheet.Surroundings(
            figure.basisNote(), figure.samplesNote(), figure.provenance(), legend));
  }

  /** Every value where there is room, else every second, third ... */
  private PlotAxis across(double panelWidth) {
    double widest =
        figure.across().stream().mapToDouble(w -> Typeface.width(w, Theme.SMALL)).max().orElse(0);
    double slot = panelWidth / figure.across().size();
    int step = (int) Math.max(1, Math.ceil((widest + 3) / (2 * slot)));
    List<Tick> ticks = new ArrayList<>();
    for (int i = 0; i < figure.across().size(); i++) {
      ticks.add(new Tick(i + 0.5, i % step == 0 ? figure.across().get(i) : "", false));
    }
    return new PlotAxis(
        figure.xTitle(), new Scale.Linear(0, Math.max(1, figure.across().size())), ticks);
  }

  private PlotAxis down() {
    List<Tick> ticks = new ArrayList<>();
    int n = figure.down().size();
    for (int i = 0; i < n; i++) {
      ticks.add(new Tick(n - i - 0.5, figure.down().get(i), false));
    }
    return new PlotAxis(figure.yTitle(), new Scale.Linear(0, Math.max(1, n)), ticks);
  }

  private void cells(Panel panel, Frame frame, List<Node> out) {
    int n = figure.down().size();
    String within = Sheet.identifier(panel.title());
    for (int[] gap : figure.gaps(panel)) {
      double y = n - 1 - gap[1];
      out.add(new Node.Fill(area(frame, gap[0], y, gap[0] + 1, y + 1), GAP));
    }
    for (Cell cell : panel.cells()) {
      double left = frame.x(cell.x()) + 0.3;
      double right = frame.x(cell.x() + 1) - 0.3;
      double top = frame.y(n - cell.y()) + 0.3;
      double bottom = frame.y(n - cell.y() - 1) - 0.3;
      Outline outline = Outline.rectangle(left, top, right - left, bottom - top);
      double middle = (left + right) / 2;
      String text = ratio(cell.ratio());
      double size = fitting(text, right - left);
      boolean numbered = size > 0 && bottom - top > 14;
      List<Node> drawn = new ArrayList<>();
      if (cell.apart()) {
        Style style = palette.style(cell.winner());
        Ink ground = style.ink().tint(strength(cell));
        Ink ink = dark(ground) ? Ink.WHITE : Theme.INK;
        drawn.add(new Node.Fill(outline, ground));
        double markerAt = numbered ? (2 * top + bottom) / 3 - 0.5 : (top + bottom) / 2;
        drawn.addAll(style.marker().at(middle, markerAt, 0.8 * Theme.MARKER, ink));
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
              "cell-%d-%d%s".formatted(cell.x(), cell.y(), within.isEmpty() ? "" : "-" + within),
              Flow.role(cell.apart() ? cell.winner() : NOBODY),
              drawn));
    }
  }

  private static Outline area(Frame frame, double x0, double y0, double x1, double y1) {
    return Outline.rectangle(
        frame.x(x0), frame.y(y1), frame.x(x1) - frame.x(x0), frame.y(y0) - frame.y(y1));
  }

  /** How strong the winner's colour is: the farther ahead, the stronger. */
  static double strength(Cell cell) {
    double lead = Double.isNaN(cell.ratio()) ? 1 : Math.min(cell.ratio(), FULL);
    return 0.75 * (PALEST + (1 - PALEST) * (lead - 1) / (FULL - 1));
  }

  static String ratio(double ratio) {
    return Double.isNaN(ratio)
        ? "–"
        : ratio < 9.995 ? Units.fixed(ratio, 2) : Units.digits(ratio, 3);
  }

  /** The largest size at which a text fits; 0 where none that can be read does. */
  static double fitting(String text, double width) {
    for (double size : new double[] {Theme.SMALL, Theme.NOTE, 5}) {
      if (Typeface.width(text, size) + 1.5 <= width) {
        return size;
      }
    }
    return 0;
  }

  /** By the luminance that sRGB assigns its primaries. */
  static boolean dark(Ink ink) {
    return 0.2126 * ink.red() + 0.7152 * ink.green() + 0.0722 * ink.blue() < 110;
  }
}
