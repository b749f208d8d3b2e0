package dev.doorbell.experiments.figures;

import dev.doorbell.experiments.figures.LineFigure.Ceiling;
import dev.doorbell.experiments.figures.LineFigure.Line;
import dev.doorbell.experiments.figures.LineFigure.Mark;
import dev.doorbell.experiments.figures.LineFigure.Panel;
import dev.doorbell.experiments.figures.LineFigure.Point;
import dev.doorbell.experiments.figures.LineFigure.Quantified;
import dev.doorbell.experiments.figures.Palette.Style;
import dev.doorbell.experiments.figures.PlotAxis.Tick;
import dev.doorbell.experiments.figures.drawing.Drawing;
import dev.doorbell.experiments.figures.drawing.Node;
import dev.doorbell.experiments.figures.drawing.Node.Anchor;
import dev.doorbell.experiments.figures.drawing.Node.Dash;
import dev.doorbell.experiments.figures.drawing.Node.Turn;
import dev.doorbell.experiments.figures.drawing.Outline;
import dev.doorbell.experiments.figures.drawing.Typeface;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Lays out a {@link LineFigure}: a legend, panels that share their axes, and a strip that says what
 * the numbers are.
 */
final class LineChart {

  private static final double EDGE = 3;
  private static final double TICK = 2.5;
  private static final double PANEL_GAP = 11;
  private static final double SAMPLE = 15;

  private final LineFigure figure;
  private final double width;
  private final Palette palette;
  private final int columns;
  private final double panelWidth;
  private final double panelHeight;
  private final double left;
  private final PlotAxis x;
  private final PlotAxis y;
  private final List<MarkRow> markRows;
  private final double markHeight;
  private final List<Node> nodes = new ArrayList<>();

  /** Draws a figure {@code width} points wide; its height follows from what it holds. */
  static Drawing draw(LineFigure figure, double width) {
    return new LineChart(figure, width).drawing();
  }

  private LineChart(LineFigure figure, double width) {
    this.figure = figure;
    this.width = width;
    this.palette = Palette.of(figure.series());
    int panels = figure.panels().size();
    this.columns = panels == 4 ? 2 : Math.min(panels, 3);
    this.y = verticalAxis();
    double widest =
        y.ticks().stream().mapToDouble(t -> Typeface.width(t.label(), Theme.SMALL)).max().orElse(0);
    this.left = EDGE + Theme.TEXT + 3 + widest + 1 + TICK;
    this.panelWidth = (width - left - EDGE - 4 - (columns - 1) * PANEL_GAP) / columns;
    this.panelHeight = Math.clamp(0.78 * panelWidth, 120, 150);
    this.x = horizontalAxis();
    this.markRows = figure.panels().stream().map(this::placeMarks).toList();
    this.markHeight = markRows.stream().mapToDouble(MarkRow::height).max().orElse(0);
  }

  private Drawing drawing() {
    double inner = width - left - EDGE;
    Flow legend = new Flow(legend(), inner, Theme.TEXT, 9);
    Flow strip = new Flow(strip(), width - 2 * EDGE, Theme.NOTE, 8);
    double top = EDGE;
    nodes.add(new Node.Group("legend", legend.at(left, top)));
    top += legend.height() + 2;
    for (int row = 0; row * columns < figure.panels().size(); row++) {
      top = panels(row, top);
    }
    nodes.add(new Node.Group("strip", strip.at(EDGE, top + 2)));
    double height = Math.ceil(top + 2 + strip.height() + 1);
    return new Drawing(width, height, figure.provenance(), nodes);
  }

  /** Draws one row of panels and returns where it ends. */
  private double panels(int row, double top) {
    boolean titled = figure.panels().size() > 1 || !figure.panels().getFirst().title().isEmpty();
    double titleHeight = titled ? Theme.TEXT + 4 : 2;
    double frameTop = top + titleHeight + markHeight;
    double frameBottom = frameTop + panelHeight;
    int first = row * columns;
    int last = Math.min(first + columns, figure.panels().size());
    for (int i = first; i < last; i++) {
      double frameLeft = left + (i - first) * (panelWidth + PANEL_GAP);
      List<Node> panel = new ArrayList<>();
      Frame frame = new Frame(frameLeft, frameTop, frameBottom);
      String title = figure.panels().get(i).title();
      if (!title.isEmpty()) {
        panel.add(label(title, frameLeft, top + Theme.TEXT, Theme.TEXT, Anchor.START));
      }
      panel(figure.panels().get(i), markRows.get(i), frame, i == first, panel);
      nodes.add(new Node.Group("panel-" + identifier(title.isEmpty() ? "only" : title), panel));
    }
    double middle = frameTop + panelHeight / 2;
    nodes.add(
        new Node.Label(
            y.title(),
            EDGE + Theme.TEXT - 1.5,
            middle,
            Theme.TEXT,
            Anchor.MIDDLE,
            Turn.UPWARDS,
            Theme.INK));
    double titleBase = frameBottom + TICK + 1.5 + Theme.SMALL + 3 + Theme.TEXT;
    double centre = left + ((last - first) * (panelWidth + PANEL_GAP) - PANEL_GAP) / 2;
    nodes.add(label(x.title(), centre, titleBase, Theme.TEXT, Anchor.MIDDLE));
    return titleBase + 4;
  }

  /** Where a panel lies on the page, and where a value lies in it. */
  private final class Frame {
    final double left;
    final double top;
    final double bottom;

    Frame(double left, double top, double bottom) {
      this.left = left;
      this.top = top;
      this.bottom = bottom;
    }

    double right() {
      return left + panelWidth;
    }

    double x(double value) {
      return left + x.scale().at(value) * panelWidth;
    }

    double y(double value) {
      return bottom - y.scale().at(value) * panelHeight;
    }
  }

  private void panel(Panel panel, MarkRow marks, Frame frame, boolean first, List<Node> out) {
    for (Mark mark : panel.marks()) {
      band(mark, frame, out);
    }
    rules(frame, out);
    for (Mark mark : panel.marks()) {
      double at = frame.x(mark.x());
      out.add(
          new Node.Stroke(
              Outline.line(at, frame.top, at, frame.bottom),
              Theme.BAND_CENTRE,
              Theme.HAIR,
              new Dash(1.5, 1.5)));
    }
    out.addAll(marks.labels(frame.left, frame.top, palette));
    scales(frame, first, out);
    String within = identifier(panel.title());
    for (Ceiling ceiling : panel.ceilings()) {
      ceiling(ceiling, frame, out);
    }
    for (Line line : panel.lines().reversed()) { // the first of the legend lies on top
      out.add(
          new Node.Group(
              identifier(line.series()) + (within.isEmpty() ? "" : "-" + within),
              line(line, frame)));
    }
  }

  private static void band(Mark mark, Frame frame, List<Node> out) {
    double from = Math.max(frame.left, frame.x(mark.interval().lower()));
    double to = Math.min(frame.right(), frame.x(mark.interval().upper()));
    if (to - from > Theme.HAIR) {
      out.add(
          new Node.Fill(
              Outline.rectangle(from, frame.top, to - from, frame.bottom - frame.top), Theme.BAND));
    }
  }

  private void rules(Frame frame, List<Node> out) {
    for (Tick tick : x.ticks()) {
      if (tick.major()) {
        double at = frame.x(tick.value());
        out.add(rule(at, frame.top, at, frame.bottom));
      }
    }
    for (Tick tick : y.ticks()) {
      if (tick.major()) {
        double at = frame.y(tick.value());
        out.add(rule(frame.left, at, frame.right(), at));
      }
    }
  }

  private static Node rule(double x0, double y0, double x1, double y1) {
    return new Node.Stroke(Outline.line(x0, y0, x1, y1), Theme.RULE, Theme.HAIR, Dash.NONE);
  }

  private void scales(Frame frame, boolean labelled, List<Node> out) {
    out.add(
        new Node.Stroke(
            Outline.line(
                frame.left, frame.top, frame.left, frame.bottom, frame.right(), frame.bottom),
            Theme.FRAME,
            Theme.HAIR,
            Dash.NONE));
    for (Tick tick : x.ticks()) {
      double at = frame.x(tick.value());
      double length = tick.major() ? TICK : TICK / 2;
      out.add(tick(at, frame.bottom, at, frame.bottom + length));
      if (!tick.label().isEmpty()) {
        double base = frame.bottom + TICK + 1.5 + Theme.SMALL - 1;
        out.add(label(tick.label(), at, base, Theme.SMALL, Anchor.MIDDLE));
      }
    }
    for (Tick tick : y.ticks()) {
      double at = frame.y(tick.value());
      double length = tick.major() ? TICK : TICK / 2;
      out.add(tick(frame.left - length, at, frame.left, at));
      if (labelled && !tick.label().isEmpty()) {
        double base = at + Typeface.capHeight(Theme.SMALL) / 2;
        out.add(label(tick.label(), frame.left - TICK - 1.5, base, Theme.SMALL, Anchor.END));
      }
    }
  }

  private static Node tick(double x0, double y0, double x1, double y1) {
    return new Node.Stroke(Outline.line(x0, y0, x1, y1), Theme.FRAME, Theme.HAIR, Dash.NONE);
  }

  private void ceiling(Ceiling ceiling, Frame frame, List<Node> out) {
    double[] path = new double[2 * ceiling.points().size()];
    for (int i = 0; i < ceiling.points().size(); i++) {
      path[2 * i] = frame.x(ceiling.points().get(i)[0]);
      path[2 * i + 1] = frame.y(ceiling.points().get(i)[1]);
    }
    if (path.length >= 4) {
      Style style = palette.style(ceiling.series().getFirst());
      out.add(new Node.Stroke(Outline.line(path), style.ink(), 0.8, Theme.CEILING));
    }
  }

  private List<Node> line(Line line, Frame frame) {
    Style style = palette.style(line.series());
    List<Node> drawn = new ArrayList<>();
    double[] path = new double[2 * line.points().size()];
    for (int i = 0; i < line.points().size(); i++) {
      path[2 * i] = frame.x(line.points().get(i).x());
      path[2 * i + 1] = frame.y(line.points().get(i).y());
    }
    if (path.length >= 4) {
      drawn.add(new Node.Stroke(Outline.line(path), style.ink(), Theme.LINE, Dash.NONE));
    }
    for (Point point : line.points()) {
      double at = frame.x(point.x());
      double low = frame.y(point.lower());
      double high = frame.y(point.upper());
      if (low - high > 2 * Theme.MARKER) { // else the marker hides it
        drawn.add(new Node.Stroke(Outline.line(at, low, at, high), style.ink(), 0.7, Dash.NONE));
      }
    }
    for (int i = 0; i < path.length; i += 2) {
      drawn.addAll(style.marker().at(path[i], path[i + 1], Theme.MARKER, style.ink()));
    }
    return drawn;
  }

  private List<Flow.Item> legend() {
    List<Flow.Item> items = new ArrayList<>();
    for (String series : figure.series()) {
      Style style = palette.style(series);
      items.add(
          new Flow.Item(
              series,
              Theme.INK,
              SAMPLE,
              (at, middle) -> {
                List<Node> sample = new ArrayList<>();
                sample.add(
                    new Node.Stroke(
                        Outline.line(at, middle, at + SAMPLE, middle),
                        style.ink(),
                        Theme.LINE,
                        Dash.NONE));
                sample.addAll(
                    style.marker().at(at + SAMPLE / 2, middle, Theme.MARKER, style.ink()));
                return sample;
              }));
    }
    if (figure.hasCeilings()) {
      items.add(
          new Flow.Item(
              "ceiling of the path model",
              Theme.QUIET,
              SAMPLE,
              (at, middle) ->
                  List.of(
                      new Node.Stroke(
                          Outline.line(at, middle, at + SAMPLE, middle),
                          Theme.QUIET,
                          0.8,
                          Theme.CEILING))));
    }
    if (figure.hasMarks()) {
      items.add(new Flow.Item("crossover, 95 % interval", Theme.QUIET, 6, LineChart::bandSample));
    }
    return items;
  }

  private static List<Node> bandSample(double at, double middle) {
    double half = Theme.TEXT / 2;
    return List.of(
        new Node.Fill(Outline.rectangle(at, middle - half, 6, 2 * half), Theme.BAND),
        new Node.Stroke(
            Outline.line(at + 3, middle - half, at + 3, middle + half),
            Theme.BAND_CENTRE,
            Theme.HAIR,
            new Dash(1.5, 1.5)));
  }

  private List<Flow.Item> strip() {
    return List.of(
        Flow.Item.text(figure.basisNote(), Theme.INK),
        Flow.Item.text(figure.samplesNote(), Theme.QUIET),
        Flow.Item.text("run " + figure.provenance().run(), Theme.QUIET),
        Flow.Item.text("config " + figure.provenance().config(), Theme.QUIET));
  }

  private MarkRow placeMarks(Panel panel) {
    return MarkRow.place(
        panel.marks(),
        panelWidth,
        mark -> x.scale().at(mark.x()) * panelWidth,
        mark -> Units.quantity(mark.x(), figure.x().unit()));
  }

  private PlotAxis horizontalAxis() {
    List<Double> values = new ArrayList<>();
    for (Panel panel : figure.panels()) {
      panel.lines().forEach(line -> line.points().forEach(point -> values.add(point.x())));
    }
    int room = (int) (panelWidth / 29);
    Quantified quantity = figure.x();
    double low = values.stream().mapToDouble(v -> v).min().orElse(1);
    double high = values.stream().mapToDouble(v -> v).max().orElse(2);
    if (quantity.log() && (quantity.unit().equals("B") || Axes.powersOfTwo(values))) {
      return Axes.binary(quantity.title(), quantity.unit(), low, high, room);
    }
    return axis(quantity, low, high, room);
  }

  private PlotAxis verticalAxis() {
    double low = Double.POSITIVE_INFINITY;
    double high = Double.NEGATIVE_INFINITY;
    for (Panel panel : figure.panels()) {
      for (Line line : panel.lines()) {
        for (Point point : line.points()) {
          low = Math.min(low, Math.min(point.y(), point.lower()));
          high = Math.max(high, Math.max(point.y(), point.upper()));
        }
      }
      for (Ceiling ceiling : panel.ceilings()) {
        for (double[] point : ceiling.points()) {
          high = Math.max(high, point[1]);
        }
      }
    }
    return axis(figure.y(), low, high, 6);
  }

  private static PlotAxis axis(Quantified quantity, double low, double high, int labels) {
    return quantity.log()
        ? Axes.decades(quantity.title(), quantity.unit(), low, high)
        : Axes.linear(quantity.title(), quantity.unit(), low, high, labels);
  }

  private static Node label(String text, double x, double y, double size, Anchor anchor) {
    return new Node.Label(text, x, y, size, anchor, Theme.INK);
  }

  /** Letters, digits and hyphens: what an identifier in an SVG and a file name may hold. */
  static String identifier(String text) {
    return text.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-").replaceAll("^-|-$", "");
  }
}
