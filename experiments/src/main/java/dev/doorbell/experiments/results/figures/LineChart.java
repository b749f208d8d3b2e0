package dev.doorbell.experiments.results.figures;

import dev.doorbell.experiments.results.figures.LineFigure.Ceiling;
import dev.doorbell.experiments.results.figures.LineFigure.Line;
import dev.doorbell.experiments.results.figures.LineFigure.Mark;
import dev.doorbell.experiments.results.figures.LineFigure.Panel;
import dev.doorbell.experiments.results.figures.LineFigure.Point;
import dev.doorbell.experiments.results.figures.LineFigure.Quantified;
import dev.doorbell.experiments.results.figures.Palette.Style;
import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.drawing.Node;
import dev.doorbell.experiments.results.figures.drawing.Node.Dash;
import dev.doorbell.experiments.results.figures.drawing.Outline;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Lays out a {@link LineFigure}. */
final class LineChart {

  private static final double SAMPLE = 15;

  /** A ceiling goes only when all lines that it bounds are hidden. */
  private static final String CEILING = "shared ";

  private final LineFigure figure;
  private final Palette palette;
  private final Sheet sheet;

  /** Draws a figure {@code width} points wide; its height follows from what it holds. */
  static Drawing draw(LineFigure figure, double width) {
    return new LineChart(figure, width).drawing();
  }

  private LineChart(LineFigure figure, double width) {
    this.figure = figure;
    this.palette = Palette.of(figure.series());
    this.sheet =
        new Sheet(
            width,
            figure.panels().size(),
            this::horizontalAxis,
            verticalAxis(),
            panel -> Math.clamp(0.78 * panel, 120, 150));
  }

  /** How a figure is laid out, {@code width} points wide. */
  static Sheet sheet(LineFigure figure, double width) {
    return new LineChart(figure, width).sheet;
  }

  /** Where the labels of a panel's crossovers go. */
  static MarkRow marks(LineFigure figure, Panel panel, Sheet sheet) {
    return MarkRow.place(
        panel.marks(),
        sheet.panelWidth(),
        mark -> sheet.x().scale().at(mark.x()) * sheet.panelWidth(),
        mark -> Units.quantity(mark.x(), figure.x().unit()));
  }

  private Drawing drawing() {
    List<Sheet.Panel> panels = new ArrayList<>();
    for (Panel panel : figure.panels()) {
      MarkRow marks = marks(figure, panel, sheet);
      panels.add(new Sheet.Panel(panel.title(), marks.height(), new Inside(panel, marks)));
    }
    return sheet.draw(
        panels,
        new Sheet.Surroundings(
            figure.basisNote(), figure.samplesNote(), figure.provenance(), legend()));
  }

  /** One panel's lines and marks. */
  private final class Inside implements Sheet.Contents {
    private final Panel panel;
    private final MarkRow marks;
    private final String within;

    Inside(Panel panel, MarkRow marks) {
      this.within = panel.title().isEmpty() ? "" : "-" + Sheet.identifier(panel.title());
      this.panel = panel;
      this.marks = marks;
    }

    @Override
    public void below(Frame frame, List<Node> out) {
      for (int i = 0; i < panel.marks().size(); i++) {
        Mark mark = panel.marks().get(i);
        List<Node> band = new ArrayList<>();
        band(mark, frame, band);
        if (!band.isEmpty()) {
          out.add(new Node.Group("band-%d%s".formatted(i + 1, within), MarkRow.role(mark), band));
        }
      }
    }

    @Override
    public void above(Frame frame, List<Node> out) {
      for (int i = 0; i < panel.marks().size(); i++) {
        Mark mark = panel.marks().get(i);
        double at = frame.x(mark.x());
        Node centre =
            new Node.Stroke(
                Outline.line(at, frame.top(), at, frame.bottom()),
                Theme.BAND_CENTRE,
                Theme.HAIR,
                new Dash(1.5, 1.5));
        out.add(
            new Node.Group(
                "crossover-%d%s".formatted(i + 1, within), MarkRow.role(mark), List.of(centre)));
      }
      out.addAll(marks.labels(frame.left(), frame.top(), palette, within));
      for (int i = 0; i < panel.ceilings().size(); i++) {
        Ceiling ceiling = panel.ceilings().get(i);
        List<Node> drawn = new ArrayList<>();
        ceiling(ceiling, frame, drawn);
        if (!drawn.isEmpty()) {
          out.add(
              new Node.Group(
                  "ceiling-%d%s".formatted(i + 1, within), CEILING + roles(ceiling), drawn));
        }
      }
      for (Line line : panel.lines().reversed()) { // the first of the legend lies on top
        out.add(
            new Node.Group(
                Sheet.identifier(line.series()) + within,
                Flow.role(line.series()),
                line(panel, line, frame)));
      }
    }
  }

  private static String roles(Ceiling ceiling) {
    return ceiling.series().stream().map(Flow::role).collect(Collectors.joining(" "));
  }

  private static void band(Mark mark, Frame frame, List<Node> out) {
    double from = Math.max(frame.left(), frame.x(mark.interval().lower()));
    double to = Math.min(frame.right(), frame.x(mark.interval().upper()));
    if (to - from > Theme.HAIR) {
      out.add(
          new Node.Fill(
              Outline.rectangle(from, frame.top(), to - from, frame.bottom() - frame.top()),
              Theme.BAND));
    }
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

  private List<Node> line(Panel panel, Line line, Frame frame) {
    Style style = palette.style(line.series());
    List<Node> drawn = new ArrayList<>();
    List<double[]> paths =
        figure.stepped()
            ? List.of(steps(line, frame))
            : unbroken(panel, line).stream().map(points -> path(points, frame)).toList();
    for (double[] path : paths) {
      if (path.length >= 4) {
        drawn.add(new Node.Stroke(Outline.line(path), style.ink(), Theme.LINE, Dash.NONE));
      }
    }
    for (Point point : line.points()) {
      double at = frame.x(point.x());
      double low = frame.y(point.lower());
      double high = frame.y(point.upper());
      if (low - high > 2 * Theme.MARKER) { // else the marker hides it
        drawn.add(new Node.Stroke(Outline.line(at, low, at, high), style.ink(), 0.7, Dash.NONE));
      }
      if (!figure.stepped()) {
        drawn.addAll(style.marker().at(at, frame.y(point.y()), Theme.MARKER, style.ink()));
      }
    }
    if (figure.stepped() && !line.points().isEmpty()) {
      Point median = median(line);
      drawn.addAll(style.marker().at(frame.x(median.x()), frame.y(0.5), Theme.MARKER, style.ink()));
    }
    return drawn;
  }

  /** The first step that reaches one half: a marker there tells lines apart without colour. */
  static Point median(Line line) {
    return line.points().stream()
        .filter(point -> point.y() >= 0.5)
        .findFirst()
        .orElse(line.points().getLast());
  }

  /** A line ends where other lines of its panel have a point and it has none. */
  private static List<List<Point>> unbroken(Panel panel, Line line) {
    double[] places =
        panel.lines().stream()
            .flatMap(each -> each.points().stream())
            .mapToDouble(Point::x)
            .sorted()
            .distinct()
            .toArray();
    List<List<Point>> parts = new ArrayList<>();
    int before = -2;
    for (Point point : line.points()) {
      int at = Arrays.binarySearch(places, point.x());
      if (at != before + 1) {
        parts.add(new ArrayList<>());
      }
      parts.getLast().add(point);
      before = at;
    }
    return parts;
  }

  private static double[] path(List<Point> points, Frame frame) {
    double[] path = new double[2 * points.size()];
    for (int i = 0; i < points.size(); i++) {
      path[2 * i] = frame.x(points.get(i).x());
      path[2 * i + 1] = frame.y(points.get(i).y());
    }
    return path;
  }

  /** Up at each value, then level to the next. */
  private static double[] steps(Line line, Frame frame) {
    double[] path = new double[4 * line.points().size() + 2];
    double level = frame.bottom();
    int at = 0;
    for (Point point : line.points()) {
      path[at++] = frame.x(point.x());
      path[at++] = level;
      level = frame.y(point.y());
      path[at++] = frame.x(point.x());
      path[at++] = level;
    }
    path[at++] = frame.right();
    path[at] = level;
    return path;
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
              },
              series));
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

  private PlotAxis horizontalAxis(double panelWidth) {
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
}
