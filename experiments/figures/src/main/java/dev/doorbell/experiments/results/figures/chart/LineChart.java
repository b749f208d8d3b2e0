package dev.doorbell.experiments.results.figures.chart;

import dev.doorbell.experiments.config.figure.FigureStyle;
import dev.doorbell.experiments.config.figure.FigureStyle.Role;
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
import dev.doorbell.experiments.results.figures.drawing.Paint;
import dev.doorbell.experiments.results.figures.drawing.PlotArea;
import dev.doorbell.experiments.results.figures.drawing.PlotAxis;
import dev.doorbell.experiments.results.figures.drawing.Theme;
import dev.doorbell.experiments.results.figures.layout.AxisBuilder;
import dev.doorbell.experiments.results.figures.layout.FigureNotes;
import dev.doorbell.experiments.results.figures.layout.Legend;
import dev.doorbell.experiments.results.figures.layout.Palette;
import dev.doorbell.experiments.results.figures.layout.Palette.Style;
import dev.doorbell.experiments.results.figures.layout.PanelLayout;
import dev.doorbell.experiments.results.print.Units;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

final class LineChart {

  private static final double SAMPLE = 15;

  private static final int STEPS = 6;

  private static final double CEILING_LINE = 0.8;
  private static final Dash CROSSOVER = new Dash(1.5, 1.5);

  /** Role of ceilings: one is hidden only when all lines that it bounds are hidden. */
  private static final String CEILING = "shared ";

  private final LineFigure figure;
  private final FigureStyle style;
  private final Palette palette;
  private final Extent extent;
  private final PanelLayout layout;

  LineChart(LineFigure figure, double width) {
    this.figure = figure;
    this.style = figure.notes().style();
    this.palette = Palette.of(figure.series(), style.palette());
    this.extent = extent(figure);
    this.layout =
        new PanelLayout(
            width,
            Legend.aside(style, legend()),
            figure.panels().size(),
            this::horizontalAxis,
            verticalAxis(),
            panel -> Math.clamp(0.78 * panel, 120, 150));
  }

  Drawing drawing() {
    List<PanelLayout.Panel> panels = new ArrayList<>();
    for (Panel panel : figure.panels()) {
      CrossoverLabels labels =
          CrossoverLabels.place(
              panel.marks(),
              layout.panelWidth(),
              mark -> layout.x().scale().at(mark.x()) * layout.panelWidth(),
              mark -> Units.quantity(mark.x(), figure.x().unit()));
      panels.add(
          new PanelLayout.Panel(panel.title(), labels.height(), new Contents(panel, labels)));
    }
    return layout.draw(notes(), panels, legend());
  }

  private FigureNotes notes() {
    StringBuilder samples = new StringBuilder(figure.notes().samples());
    if (extent.cut() && figure.limits().yHigh().isEmpty()) {
      samples.append("; arrows: whiskers go on");
    }
    if (figure.panels().stream().anyMatch(panel -> !offsets(panel).isEmpty())) {
      samples.append("; equal lines lie side by side");
    }
    return figure.notes().sampled(samples.toString());
  }

  private Map<String, Double> offsets(Panel panel) {
    return figure.stepped() ? Map.of() : offsets(panel.lines(), layout.area());
  }

  private final class Contents implements PanelLayout.Contents {
    private final Panel panel;
    private final CrossoverLabels labels;
    private final String within;

    Contents(Panel panel, CrossoverLabels labels) {
      this.panel = panel;
      this.labels = labels;
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
                  List.of(new Node.Fill(band, Theme.BAND))));
        }
      }
    }

    @Override
    public void above(PlotArea area, List<Node> out) {
      for (int i = 0; i < panel.marks().size(); i++) {
        Mark mark = panel.marks().get(i);
        double at = area.x(mark.x());
        Outline centre = Outline.line(at, area.top(), at, area.bottom());
        Node line = new Stroke(centre, Theme.BAND_CENTRE, Theme.HAIR, CROSSOVER);
        out.add(
            new Node.Group(
                "crossover-%d%s".formatted(i + 1, within),
                CrossoverLabels.role(mark),
                List.of(line)));
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
                  strokes(
                      ceiling.points(),
                      0,
                      area,
                      palette.style(ceiling.series().getFirst()),
                      CEILING_LINE,
                      Theme.CEILING)));
        }
      }
      Map<String, Double> offsets = offsets(panel);
      for (Line line : panel.lines().reversed()) { // the first of the legend lies on top
        out.add(
            new Node.Group(
                Identifier.of(line.series()) + within,
                Legend.role(line.series()),
                figure.stepped()
                    ? stepped(line, area)
                    : line(panel, line, offsets.getOrDefault(line.series(), 0.0), area)));
      }
      if (panel.lines().stream().flatMap(line -> line.points().stream()).allMatch(Point::isZero)) {
        double middle = (area.top() + area.bottom()) / 2;
        out.add(
            new Node.Label(
                "all 0",
                (area.left() + area.right()) / 2,
                middle,
                Theme.TEXT,
                Node.Anchor.MIDDLE,
                Theme.QUIET));
      }
      figure.limits().drawNotes(area, out);
    }
  }

  /** The path through points, cut at the edges of the panel. */
  private static List<Node> strokes(
      List<double[]> points, double aside, PlotArea area, Style look, double width, Dash dash) {
    List<double[]> places =
        points.stream()
            .map(point -> new double[] {area.x(point[0]) + aside, area.y(point[1])})
            .toList();
    return Clipping.path(area, places).stream()
        .<Node>map(part -> new Stroke(part, look.paint(), width, dash))
        .toList();
  }

  private List<Node> stepped(Line line, PlotArea area) {
    Style look = palette.style(line.series());
    List<Node> nodes = new ArrayList<>();
    if (!line.points().isEmpty()) {
      Clipping.path(area, steps(line, area)).stream()
          .map(part -> new Stroke(part, look.paint(), Theme.LINE, Dash.NONE))
          .forEach(nodes::add);
    }
    line.points().stream()
        .filter(point -> point.y() >= 0.5)
        .findFirst() // a marker at the median tells lines apart without colour
        .filter(median -> Clipping.inside(area, area.x(median.x()), area.y(0.5)))
        .ifPresent(
            median ->
                nodes.addAll(
                    look.marker().at(area.x(median.x()), area.y(0.5), Theme.MARKER, look.paint())));
    return nodes;
  }

  private List<Node> line(Panel panel, Line line, double aside, PlotArea area) {
    Style look = palette.style(line.series());
    List<Node> drawn = new ArrayList<>();
    List<Node> arrows = new ArrayList<>();
    for (List<Point> points : unbroken(panel, line)) {
      if (points.size() > 1) {
        List<double[]> places = points.stream().map(p -> new double[] {p.x(), p.y()}).toList();
        drawn.addAll(strokes(places, aside, area, look, Theme.LINE, Dash.NONE));
      }
    }
    for (Point point : line.points()) {
      double at = area.x(point.x()) + aside;
      double low = area.y(point.lower());
      double high = area.y(point.upper());
      boolean across = at >= area.left() - 1 && at <= area.right() + 1;
      if (across && low - high > 2 * Theme.MARKER) { // else the marker hides it
        double foot = Clipping.height(area, low);
        double head = Clipping.height(area, high);
        if (foot > head) {
          drawn.add(Stroke.line(at, foot, at, head, look.paint(), 0.7));
        }
        arrows.addAll(Clipping.arrows(area, at, low, high, look.paint()));
      }
      if (across && Clipping.inside(area, area.x(point.x()), area.y(point.y()))) {
        double y = area.y(point.y());
        drawn.addAll(
            line.untested()
                ? look.marker().hollow(at, y, Theme.MARKER, look.paint())
                : look.marker().at(at, y, Theme.MARKER, look.paint()));
      }
    }
    for (double[] row : line.published()) {
      double x = area.x(row[0]);
      double y = area.y(row[1]);
      if (Clipping.inside(area, x, y)) {
        drawn.add(published(x, y, look.paint()));
      }
    }
    drawn.addAll(arrows);
    return drawn;
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

  /** Up at each value, then level to the next. */
  private static List<double[]> steps(Line line, PlotArea area) {
    List<double[]> path = new ArrayList<>();
    double level = area.bottom();
    for (Point point : line.points()) {
      path.add(new double[] {area.x(point.x()), level});
      level = area.y(point.y());
      path.add(new double[] {area.x(point.x()), level});
    }
    path.add(new double[] {area.right(), level});
    return path;
  }

  /** A published row: a ring about its place. */
  private static Node published(double x, double y, Paint paint) {
    return new Stroke(Outline.circle(x, y, 2 * Theme.MARKER), paint, 0.8, Dash.NONE);
  }

  private List<Legend.Item> legend() {
    List<Legend.Item> items = new ArrayList<>();
    for (String series : figure.series()) {
      items.add(
          Legend.Item.line(
              style.shown(Role.SERIES, series), series, SAMPLE, palette.style(series)));
    }
    if (figure.hasUntested()) {
      items.add(Legend.Item.untested());
    }
    if (figure.hasPublished()) {
      items.add(
          new Legend.Item(
              "published measurement",
              Theme.QUIET,
              4 * Theme.MARKER,
              (at, middle) -> List.of(published(at + 2 * Theme.MARKER, middle, Theme.QUIET)),
              ""));
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
    AxisLimits limits = figure.limits();
    double low = limits.xLow().orElse(values.stream().mapToDouble(v -> v).min().orElse(1));
    double high = limits.xHigh().orElse(values.stream().mapToDouble(v -> v).max().orElse(2));
    boolean binary =
        quantity.log() && (quantity.unit().equals("B") || AxisBuilder.powersOfTwo(values));
    PlotAxis usual =
        binary
            ? AxisBuilder.binary(quantity.title(), quantity.unit(), low, high, room)
            : AxisBuilder.axis(quantity.title(), quantity.unit(), quantity.log(), low, high, room);
    return limits.horizontal(usual, quantity.unit(), room);
  }

  private static Extent extent(LineFigure figure) {
    Extent extent = new Extent(figure.y().log());
    figure
        .lines()
        .flatMap(line -> line.points().stream())
        .forEach(point -> extent.add(point.y(), point.lower(), point.upper()));
    figure
        .lines()
        .flatMap(line -> line.published().stream())
        .forEach(row -> extent.add(row[1], row[1], row[1]));
    figure.panels().stream()
        .flatMap(panel -> panel.ceilings().stream())
        .flatMap(ceiling -> ceiling.points().stream())
        .forEach(point -> extent.reach(point[1]));
    return extent;
  }

  private PlotAxis verticalAxis() {
    Quantified quantity = figure.y();
    double low = figure.limits().yLow().orElse(extent.low(Double.POSITIVE_INFINITY));
    double high = figure.limits().yHigh().orElse(extent.high(Double.NEGATIVE_INFINITY));
    PlotAxis usual =
        AxisBuilder.axis(quantity.title(), quantity.unit(), quantity.log(), low, high, STEPS);
    return figure.limits().vertical(usual, quantity.unit(), STEPS);
  }

  /** From one line to the next, points: markers touch. */
  private static final double STEP = 3.2;

  /** Heights that differ by less look equal, points. */
  private static final double SAME = 0.6;

  /** Lines with this share of their common places at one height are taken for equal. */
  private static final double MOST = 0.75;

  /** Points by which each line is moved to the right; lines that stay are not in it. */
  static Map<String, Double> offsets(List<Line> lines, PlotArea area) {
    List<List<Line>> groups = new ArrayList<>();
    for (Line line : lines) {
      groups.stream()
          .filter(group -> group.stream().anyMatch(other -> equal(line, other, area)))
          .findFirst()
          .ifPresentOrElse(
              group -> group.add(line), () -> groups.add(new ArrayList<>(List.of(line))));
    }
    Map<String, Double> offsets = new HashMap<>();
    for (List<Line> group : groups) {
      for (int i = 0; i < group.size() && group.size() > 1; i++) {
        offsets.put(group.get(i).series(), (i - (group.size() - 1) / 2.0) * STEP);
      }
    }
    return offsets;
  }

  private static boolean equal(Line one, Line other, PlotArea area) {
    Map<Double, Double> heights = new HashMap<>();
    other.points().forEach(point -> heights.put(point.x(), area.y(point.y())));
    int common = 0;
    int same = 0;
    for (Point point : one.points()) {
      Double height = heights.get(point.x());
      if (height != null) {
        common++;
        same += Math.abs(height - area.y(point.y())) < SAME ? 1 : 0;
      }
    }
    return common > 0 && same >= MOST * common;
  }
}
