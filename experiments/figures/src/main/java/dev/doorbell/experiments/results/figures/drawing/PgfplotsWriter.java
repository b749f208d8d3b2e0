package dev.doorbell.experiments.results.figures.drawing;

import dev.doorbell.experiments.results.figures.drawing.Node.Anchor;
import dev.doorbell.experiments.results.figures.drawing.Node.Dash;
import dev.doorbell.experiments.results.figures.drawing.Node.Label;
import dev.doorbell.experiments.results.figures.drawing.Node.Turn;
import dev.doorbell.experiments.results.figures.drawing.Outline.Segment;
import dev.doorbell.experiments.results.figures.drawing.PlotAxis.Tick;
import dev.doorbell.experiments.results.figures.drawing.Series.Data;
import dev.doorbell.experiments.results.figures.drawing.Series.Shape;
import dev.doorbell.experiments.results.print.Table;
import dev.doorbell.experiments.results.print.Units;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Writes a drawing for LaTeX. Axes and their data become axes and plots of pgfplots, which reads
 * the drawing's tables; everything else becomes paths and nodes of TikZ at its place on the page.
 * One TikZ unit is a point of PDF, with y downwards as in the drawing.
 */
final class PgfplotsWriter {

  private final StringBuilder tex = new StringBuilder();
  private final Map<Paint, String> colours = new LinkedHashMap<>();

  /** Font family of figures; empty where a figure names one, which LaTeX cannot load. */
  private final String family;

  /** Factor by which texts and markers are larger than in a usual drawing. */
  private final double scale;

  private PgfplotsWriter(Drawing drawing) {
    this.family = drawing.typeface().usual() ? "\\sffamily" : "";
    this.scale = drawing.scale();
  }

  static String write(Drawing drawing) {
    PgfplotsWriter writer = new PgfplotsWriter(drawing);
    for (Node.Plot plot : plots(drawing.nodes())) {
      for (Series series : plot.series()) {
        if (!series.name().isEmpty()) {
          writer.colours.putIfAbsent(series.paint(), "doorbell-" + Identifier.of(series.name()));
        }
      }
    }
    String style =
        """
        \\pgfplotsset{doorbell/.style={scale only axis, axis lines*=left, scaled ticks=false,
          axis line style={%1$s, line width=.5bp}, tick align=outside,
          every tick/.style={%1$s, line width=.5bp}, major tick length=2.5bp, minor tick length=1.25bp,
          grid=major, major grid style={%2$s, line width=.5bp}, unbounded coords=jump,
          tick label style={font=%3$s, text=%4$s, inner sep=1bp}, xticklabel style={align=center}}}
        """
            .formatted(
                writer.colour(Theme.FRAME),
                writer.colour(Theme.RULE),
                writer.font(Theme.SMALL * drawing.scale()),
                writer.colour(Theme.INK));
    writer.nodes(drawing.nodes());
    return writer.document(drawing, style);
  }

  private String document(Drawing drawing, String style) {
    Provenance from = drawing.provenance();
    StringBuilder out = new StringBuilder("% ");
    out.append(from.title()).append("; ").append(from.basis()).append("; run ").append(from.run());
    out.append(", config ").append(from.config()).append("\n% needs \\usepackage{pgfplots} ");
    out.append("\\pgfplotsset{compat=1.18}; ").append(Math.round(drawing.width()));
    out.append(
        " bp wide\n\\begin{tikzpicture}[x=1bp, y=-1bp, every node/.style={inner sep=0pt}]\n");
    colours.forEach(
        (paint, name) ->
            out.append("\\definecolor{%s}{HTML}{%s}%n".formatted(name, digits(paint))));
    out.append(style).append("\\useasboundingbox (0,0) rectangle ");
    out.append(at(drawing.width(), drawing.height())).append(";\n");
    return out.append(tex).append("\\end{tikzpicture}\n").toString();
  }

  private static String digits(Paint paint) {
    return paint.hex().substring(1).toUpperCase(Locale.ROOT);
  }

  private String colour(Paint paint) {
    return colours.computeIfAbsent(paint, p -> "doorbell-" + digits(p));
  }

  private static List<Node.Plot> plots(List<Node> nodes) {
    List<Node.Plot> plots = new ArrayList<>();
    for (Node node : nodes) {
      switch (node) {
        case Node.Group group -> plots.addAll(plots(group.nodes()));
        case Node.Plot plot -> plots.add(plot);
        default -> {}
      }
    }
    return plots;
  }

  private void nodes(List<Node> nodes) {
    for (Node node : nodes) {
      switch (node) {
        case Node.Group group -> nodes(group.nodes());
        case Node.Axes axes -> axes(axes, plots(nodes));
        case Node.Plot _ -> {} // within the axes of its panel
        case Node.Stroke stroke ->
            line(
                "\\draw[%s%s]%s;",
                colour(stroke.paint()),
                lines(stroke.width(), stroke.dash()),
                path(stroke.outline()));
        case Node.Fill fill -> line("\\fill[%s]%s;", colour(fill.paint()), path(fill.outline()));
        case Label label -> label(label);
      }
    }
  }

  private void label(Label label) {
    String anchor =
        switch (label.anchor()) {
          case START -> "base west";
          case MIDDLE -> "base";
          case END -> "base east";
        };
    line(
        "\\node[anchor=%s, text=%s, font=%s%s] at %s {%s};",
        anchor,
        colour(label.paint()),
        font(label.size()),
        label.turn() == Turn.UPWARDS ? ", rotate=90" : "",
        at(label.x(), label.y()),
        Table.latexEscaped(label.text()));
  }

  private String font(double size) {
    String points = Units.digits(size, 3);
    return "%s\\fontsize{%s}{%s}\\selectfont"
        .formatted(family, points, Units.digits(1.25 * size, 3));
  }

  private static String lines(double width, Dash dash) {
    String line = ", line width=%sbp".formatted(Units.digits(width, 3));
    return dash.broken()
        ? line + ", dash pattern=on %sbp off %sbp".formatted(dash.on(), dash.off())
        : line;
  }

  private static String path(Outline outline) {
    StringBuilder path = new StringBuilder();
    for (Segment segment : outline.segments()) {
      switch (segment) {
        case Segment.Move(double x, double y) -> path.append(' ').append(at(x, y));
        case Segment.Line(double x, double y) -> path.append(" -- ").append(at(x, y));
        case Segment.Curve(double x1, double y1, double x2, double y2, double x, double y) ->
            path.append(" .. controls %s and %s .. %s".formatted(at(x1, y1), at(x2, y2), at(x, y)));
        case Segment.Close() -> path.append(" -- cycle");
      }
    }
    return path.toString();
  }

  private static String at(double x, double y) {
    return "(" + SvgWriter.number(x) + "," + SvgWriter.number(y) + ")";
  }

  private void axes(Node.Axes axes, List<Node.Plot> plots) {
    PlotArea area = axes.area();
    List<Label> labels =
        axes.drawn().stream().filter(Label.class::isInstance).map(Label.class::cast).toList();
    line(
        "\\begin{axis}[%s%sdoorbell, at={(%sbp,%sbp)}, width=%sbp, height=%sbp,",
        mode("x", area.xAxis()),
        mode("y", area.yAxis()),
        SvgWriter.number(area.left()),
        SvgWriter.number(-area.bottom()),
        SvgWriter.number(area.right() - area.left()),
        SvgWriter.number(area.bottom() - area.top()));
    axis("x", area.xAxis());
    axis("y", area.yAxis());
    line("  xticklabels={%s},", below(area, labels));
    line(
        "  yticklabels={%s}]",
        labels.stream()
            .filter(label -> label.anchor() == Anchor.END)
            .map(label -> "{" + Table.latexEscaped(label.text()) + "}")
            .collect(Collectors.joining(",")));
    plots.forEach(plot -> plot.series().forEach(this::series));
    line("\\end{axis}");
  }

  /** An option of the axis itself: pgfplots reads it before it reads styles. */
  private static String mode(String name, PlotAxis axis) {
    return axis.scale() instanceof Scale.Log ? name + "mode=log, " : "";
  }

  private void axis(String name, PlotAxis axis) {
    String minor = ticks(axis, tick -> tick.label().isEmpty());
    line(
        "  %1$smin=%2$s, %1$smax=%3$s, %1$stick={%4$s}%5$s%6$s,",
        name,
        Units.plain(axis.scale().low()),
        Units.plain(axis.scale().high()),
        ticks(axis, tick -> !tick.label().isEmpty()),
        minor.isEmpty() ? "" : ", minor " + name + "tick={" + minor + "}",
        axis.ticks().stream().anyMatch(Tick::major) ? "" : ", " + name + "majorgrids=false");
  }

  private static String ticks(PlotAxis axis, Predicate<Tick> wanted) {
    return axis.ticks().stream()
        .filter(wanted)
        .map(tick -> Units.plain(tick.value()))
        .collect(Collectors.joining(","));
  }

  /** Labels of the abscissa, in one row or two, as far from their ticks as they are drawn. */
  private static String below(PlotArea area, List<Label> labels) {
    List<Label> drawn = labels.stream().filter(label -> label.anchor() == Anchor.MIDDLE).toList();
    List<Tick> ticks = area.xAxis().ticks().stream().filter(t -> !t.label().isEmpty()).toList();
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < drawn.size(); i++) {
      Label label = drawn.get(i);
      double shift = label.x() - area.x(ticks.get(i).value());
      String kern = "\\kern" + SvgWriter.number(2 * Math.abs(shift)) + "bp";
      String text = Table.latexEscaped(label.text());
      String shifted = "\\makebox[0pt]{" + (shift > 0 ? kern + text : text + kern) + "}";
      boolean lower = label.y() > drawn.getFirst().y();
      texts.add(
          "{\\strut"
              + (lower ? "\\\\\\strut " : " ")
              + (Math.abs(shift) < 0.01 ? text : shifted)
              + "}");
    }
    return String.join(",", texts);
  }

  private void series(Series series) {
    String paint = colour(series.paint());
    String lines = lines(series.width(), series.dash());
    String look =
        switch (series.shape()) {
          case LINE -> paint + lines + mark(series, Theme.MARKER * scale);
          case STEPS -> paint + lines + ", const plot, no marks";
          case MARKERS -> paint + ", only marks" + mark(series, Theme.MARKER * scale);
          case BARS -> bars("y", series);
          case BARS_ACROSS -> bars("x", series);
          case AREA -> "draw=none, no marks, fill=" + paint;
        };
    String aside =
        series.offset() == 0 ? "" : ", xshift=" + SvgWriter.number(series.offset()) + "bp";
    line("\\addplot[%s, forget plot%s%s]", look, aside, errorBars(series));
    line("  %s%s;", data(series, ""), series.shape() == Shape.AREA ? " \\closedcycle" : "");
    if (series.shape() == Shape.BARS && series.marker() != null) {
      line("\\addplot[%s, only marks%s, forget plot,", paint, mark(series, 1.6 * scale));
      line("  every mark/.append style={yshift=3bp}] %s;", data(series, "-hi"));
    }
  }

  private String bars(String along, Series series) {
    return "%sbar, bar shift=0pt, bar width=%s, draw=none, fill=%s"
        .formatted(along, Units.digits(series.width(), 4), colour(series.paint()));
  }

  private static String errorBars(Series series) {
    if (!(series.data() instanceof Data.Columns columns) || !columns.interval()) {
      return "";
    }
    String style =
        series.shape() == Shape.BARS
            ? "error bar style={black, line width=.6bp},\n"
                + "  error mark options={black, mark size=1.6bp, line width=.6bp, rotate=90}"
            : "error mark=none, error bar style={line width=.7bp, solid}";
    return ",\n  error bars/.cd, y dir=both, y explicit, " + style;
  }

  private static String data(Series series, String bound) {
    return switch (series.data()) {
      case Data.Points(List<double[]> points) ->
          points.stream()
              .map(point -> "(" + Units.plain(point[0]) + "," + Units.plain(point[1]) + ")")
              .collect(Collectors.joining("", "coordinates {", "}"));
      case Data.Columns(String table, String x, double shift, String y, boolean interval) -> {
        String abscissa =
            shift == 0 ? "x=" + x : "x expr=\\thisrow{" + x + "}+" + Units.digits(shift, 4);
        String errors =
            interval && bound.isEmpty()
                ? (",\n  y error plus expr=\\thisrow{%1$s-hi}-\\thisrow{%1$s},"
                        + " y error minus expr=\\thisrow{%1$s}-\\thisrow{%1$s-lo}")
                    .formatted(y)
                : "";
        yield "table [col sep=comma, %s, y=%s%s] {%s}"
            .formatted(abscissa, y + bound, errors, table);
      }
    };
  }

  private String mark(Series series, double size) {
    Marker marker = series.marker();
    if (marker == null) {
      return ", no marks";
    }
    String paint = colour(series.paint());
    String shape =
        switch (marker) {
          case DISC, RING -> "*";
          case SQUARE -> "square*";
          case TRIANGLE_UP, TRIANGLE_DOWN -> "triangle*";
          case DIAMOND -> "diamond*";
          case PLUS -> "+";
        };
    String fill =
        switch (marker) {
          case RING -> "fill=white, line width=.9bp";
          case PLUS -> "line width=1.5bp";
          case TRIANGLE_DOWN -> "fill=" + paint + ", line width=.4bp, rotate=180";
          default -> "fill=" + paint + ", line width=.4bp";
        };
    return ",\n  mark=%s, mark size=%sbp, mark options={solid, draw=%s, %s}"
        .formatted(shape, Units.digits(size, 3), paint, fill);
  }

  @SuppressWarnings("AnnotateFormatMethod") // the annotation would be a dependency
  private void line(String format, Object... values) {
    tex.append(String.format(Locale.ROOT, format, values)).append('\n');
  }
}
