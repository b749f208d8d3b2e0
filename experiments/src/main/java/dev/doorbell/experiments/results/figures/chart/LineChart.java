package dev.doorbell.experiments.results.figures.chart;

import dev.doorbell.experiments.results.figures.chart.LineFigure.Ceiling;
import dev.doorbell.experiments.results.figures.chart.LineFigure.Line;
import dev.doorbell.experiments.results.figures.chart.LineFigure.Mark;
import dev.doorbell.experiments.results.figures.chart.LineFigure.Panel;
import dev.doorbell.experiments.results.figures.chart.LineFigure.Point;
import dev.doorbell.experiments.results.figures.chart.LineFigure.Quantified;
import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.drawing.Identifier;
import dev.doorbell.experiments.results.figures.drawing.Node;
import dev.doorbell.experiments.results.figures.drawing.Node.Dash;
import dev.doorbell.experiments.results.figures.drawing.Node.Stroke;
import dev.doorbell.experiments.results.figures.drawing.Outline;
import dev.doorbell.experiments.results.figures.drawing.PlotArea;
import dev.doorbell.experiments.results.figures.drawing.PlotAxis;
import dev.doorbell.experiments.results.figures.drawing.Series;
import dev.doorbell.experiments.results.figures.drawing.Series.Data;
import dev.doorbell.experiments.results.figures.drawing.Series.Shape;
import dev.doorbell.experiments.results.figures.drawing.Theme;
import dev.doorbell.experiments.results.figures.layout.AxisBuilder;
import dev.doorbell.experiments.results.figures.layout.Legend;
import dev.doorbell.experiments.results.figures.layout.Palette;
import dev.doorbell.experiments.results.figures.layout.Palette.Style;
import dev.doorbell.experiments.results.figures.layout.PanelLayout;
import dev.doorbell.experiments.results.print.Units;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;

/** Lays out a {@link LineFigure}. */
final class LineChart {

  private static final double SAMPLE = 15;
  private static final double CEILING_LINE = 0.8;
  private static final Dash CROSSOVER = new Dash(1.5, 1.5);

  /** Role of ceilings: one is hidden only when all lines that it bounds are hidden. */
  private static final String CEILING = "shared ";

  private final LineFigure figure;
  private final Palette palette;
  private final PanelLayout layout;
  private final SequencedMap<String, String> tables = new LinkedHashMap<>();

  LineChart(LineFigure figure, double width) {
    this.figure = figure;
    this.palette = Palette.of(figure.series());
    this.layout =
        new PanelLayout(
            width,
            figure.panels().size(),
            this::horizontalAxis,
            verticalAxis(),
            panel -> Math.clamp(0.78 * panel, 120, 150));
  }

  Drawing drawing() {
    List<PanelLayout.Panel> panels = new ArrayList<>();
    String basis = figure.notes().provenance().basis();
    for (Panel panel : figure.panels()) {
      boolean one = panel.title().isEmpty() || figure.panels().size() == 1;
      String table = (one ? figure.notes() : figure.notes().ofPanel(panel.title())).file(".csv");
      tables.put(
          table,
          figure.stepped()
              ? LineTables.stepped(panel.lines(), layout.x().scale().high(), basis)
              : LineTables.joined(panel.lines(), basis));
      CrossoverLabels labels =
          CrossoverLabels.place(
              panel.marks(),
              layout.panelWidth(),
              mark -> layout.x().scale().at(mark.x()) * layout.panelWidth(),
              mark -> Units.quantity(mark.x(), figure.x().unit()));
      panels.add(
          new PanelLayout.Panel(
              panel.title(), labels.height(), new Contents(panel, labels, table)));
    }
    return layout.draw(figure.notes(), panels, legend(), tables);
  }

  /** The lines and crossovers of one panel. */
  private final class Contents implements PanelLayout.Contents {
    private final Panel panel;
    private final CrossoverLabels labels;
    private final String table;
    private final String within;

    Contents(Panel panel, CrossoverLabels labels, String table) {
      this.panel = panel;
      this.labels = labels;
      this.table = table;
      this.within = Identifier.within(panel.title());
    }

    @Override
    public void below(PlotArea area, List<Node> out) {
      for (int i = 0; i < panel.marks().size(); i++) {
        Mark mark = panel.marks().get(i);
        double from = Math.max(area.left(), area.x(mark.interval().lower()));
        double to = Math.min(area.right(), area.x(mark.interval().upper()));
        if (to - from > Theme.HAIR) {
          Outline band = Outline.rectangle(from, area.top(), to - from, area.bottom() - area.top());
          out.add(
              new Node.Group(
                  "band-%d%s".formatted(i + 1, within),
                  CrossoverLabels.role(mark),
                  List.of(
                      new Node.Plot(band(mark, area), List.of(new Node.Fill(band, Theme.BAND))))));
        }
      }
    }

    @Override
    public void above(PlotArea area, List<Node> out) {
      for (int i = 0; i < panel.marks().size(); i++) {
        Mark mark = panel.marks().get(i);
        double at = area.x(mark.x());
        Outline centre = Outline.line(at, area.top(), at, area.bottom());
        Series series =
            Series.line(
                "",
                Theme.BAND_CENTRE,
                Theme.HAIR,
                CROSSOVER,
                new double[] {mark.x(), area.yAxis().scale().low()},
                new double[] {mark.x(), area.yAxis().scale().high()});
        Node line = new Stroke(centre, Theme.BAND_CENTRE, Theme.HAIR, CROSSOVER);
        out.add(
            new Node.Group(
                "crossover-%d%s".formatted(i + 1, within),
                CrossoverLabels.role(mark),
                List.of(new Node.Plot(series, List.of(line)))));
      }
      out.addAll(labels.draw(area.left(), area.top(), palette, within));
      for (int i = 0; i < panel.ceilings().size(); i++) {
        Ceiling ceiling = panel.ceilings().get(i);
        if (ceiling.points().size() > 1) {
          String roles =
              ceiling.series().stream().map(Legend::role).collect(Collectors.joining(" "));
          out.add(
              new Node.Group(
                  "ceiling-%d%s".formatted(i + 1, within),
                  CEILING + roles,
                  List.of(ceiling(ceiling, area))));
        }
      }
      for (Line line : panel.lines().reversed()) { // the first of the legend lies on top
        out.add(
            new Node.Group(
                Identifier.of(line.series()) + within,
                Legend.role(line.series()),
                line(panel, line, table, area)));
      }
    }
  }

  private static Series band(Mark mark, PlotArea area) {
    double from = Math.max(area.xAxis().scale().low(), mark.interval().lower());
    double to = Math.min(area.xAxis().scale().high(), mark.interval().upper());
    double low = area.yAxis().scale().low();
    double high = area.yAxis().scale().high();
    return Series.area(
        Theme.BAND,
        new double[] {from, low},
        new double[] {from, high},
        new double[] {to, high},
        new double[] {to, low});
  }

  private Node ceiling(Ceiling ceiling, PlotArea area) {
    Style style = palette.style(ceiling.series().getFirst());
    Outline path = path(ceiling.points(), point -> point[0], point -> point[1], area);
    double[][] points = ceiling.points().toArray(double[][]::new);
    return new Node.Plot(
        Series.line("", style.paint(), CEILING_LINE, Theme.CEILING, points),
        List.of(new Stroke(path, style.paint(), CEILING_LINE, Theme.CEILING)));
  }

  private List<Node> line(Panel panel, Line line, String table, PlotArea area) {
    Style style = palette.style(line.series());
    List<Node> drawn = new ArrayList<>();
    String column = Identifier.of(line.series());
    if (figure.stepped()) {
      if (!line.points().isEmpty()) {
        drawn.add(new Stroke(steps(line, area), style.paint(), Theme.LINE, Dash.NONE));
      }
      Series steps =
          new Series(
              line.series(),
              Shape.STEPS,
              new Data.Columns(table, column + "-x", 0, column, false),
              style.paint(),
              Theme.LINE,
              Dash.NONE,
              null);
      List<Node> nodes = new ArrayList<>(List.of(new Node.Plot(steps, drawn)));
      line.points().stream()
          .filter(point -> point.y() >= 0.5)
          .findFirst() // a marker at the median tells lines apart without colour
          .ifPresent(
              median ->
                  nodes.addAll(
                      style
                          .marker()
                          .at(area.x(median.x()), area.y(0.5), Theme.MARKER, style.paint())));
      return nodes;
    }
    for (List<Point> points : unbroken(panel, line)) {
      if (points.size() > 1) {
        Outline path = path(points, Point::x, Point::y, area);
        drawn.add(new Stroke(path, style.paint(), Theme.LINE, Dash.NONE));
      }
    }
    for (Point point : line.points()) {
      double at = area.x(point.x());
      double low = area.y(point.lower());
      double high = area.y(point.upper());
      if (low - high > 2 * Theme.MARKER) { // else the marker hides it
        drawn.add(Stroke.line(at, low, at, high, style.paint(), 0.7));
      }
      drawn.addAll(style.marker().at(at, area.y(point.y()), Theme.MARKER, style.paint()));
    }
    Series series =
        new Series(
            line.series(),
            Shape.LINE,
            new Data.Columns(table, "x", 0, column, true),
            style.paint(),
            Theme.LINE,
            Dash.NONE,
            style.marker());
    return List.of(new Node.Plot(series, drawn));
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

  private static <T> Outline path(
      List<T> points, ToDoubleFunction<T> x, ToDoubleFunction<T> y, PlotArea area) {
    return Outline.line(
        points.stream()
            .flatMapToDouble(
                point ->
                    DoubleStream.of(area.x(x.applyAsDouble(point)), area.y(y.applyAsDouble(point))))
            .toArray());
  }

  /** Up at each value, then level to the next. */
  private static Outline steps(Line line, PlotArea area) {
    DoubleStream.Builder path = DoubleStream.builder();
    double level = area.bottom();
    for (Point point : line.points()) {
      path.add(area.x(point.x())).add(level);
      level = area.y(point.y());
      path.add(area.x(point.x())).add(level);
    }
    return Outline.line(path.add(area.right()).add(level).build().toArray());
  }

  private List<Legend.Item> legend() {
    List<Legend.Item> items = new ArrayList<>();
    for (String series : figure.series()) {
      items.add(Legend.Item.line(series, SAMPLE, palette.style(series)));
    }
    if (figure.hasCeilings()) {
      items.add(
          Legend.Item.line(
              "ceiling of the path model", Theme.QUIET, SAMPLE, CEILING_LINE, Theme.CEILING, ""));
    }
    if (figure.hasMarks()) {
      items.add(
          new Legend.Item("crossover, 95 % interval", Theme.QUIET, 6, LineChart::bandSample, ""));
    }
    return items;
  }

  private static List<Node> bandSample(double at, double middle) {
    double half = Theme.TEXT / 2;
    return List.of(
        new Node.Fill(Outline.rectangle(at, middle - half, 6, 2 * half), Theme.BAND),
        new Stroke(
            Outline.line(at + 3, middle - half, at + 3, middle + half),
            Theme.BAND_CENTRE,
            Theme.HAIR,
            CROSSOVER));
  }

  private PlotAxis horizontalAxis(double panelWidth) {
    List<Double> values =
        figure.lines().flatMap(line -> line.points().stream()).map(Point::x).toList();
    int room = (int) (panelWidth / 29);
    Quantified quantity = figure.x();
    double low = values.stream().mapToDouble(v -> v).min().orElse(1);
    double high = values.stream().mapToDouble(v -> v).max().orElse(2);
    if (quantity.log() && (quantity.unit().equals("B") || AxisBuilder.powersOfTwo(values))) {
      return AxisBuilder.binary(quantity.title(), quantity.unit(), low, high, room);
    }
    return AxisBuilder.axis(quantity.title(), quantity.unit(), quantity.log(), low, high, room);
  }

  private PlotAxis verticalAxis() {
    List<Point> points = figure.lines().flatMap(line -> line.points().stream()).toList();
    double low =
        points.stream()
            .mapToDouble(point -> Math.min(point.y(), point.lower()))
            .min()
            .orElse(Double.POSITIVE_INFINITY);
    double high =
        DoubleStream.concat(
                points.stream().mapToDouble(point -> Math.max(point.y(), point.upper())),
                figure.panels().stream()
                    .flatMap(panel -> panel.ceilings().stream())
                    .flatMap(ceiling -> ceiling.points().stream())
                    .mapToDouble(point -> point[1]))
            .max()
            .orElse(Double.NEGATIVE_INFINITY);
    Quantified quantity = figure.y();
    return AxisBuilder.axis(quantity.title(), quantity.unit(), quantity.log(), low, high, 6);
  }
}
