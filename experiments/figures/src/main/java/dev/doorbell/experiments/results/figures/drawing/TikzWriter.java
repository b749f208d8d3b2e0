package dev.doorbell.experiments.results.figures.drawing;

import dev.doorbell.experiments.results.figures.drawing.Node.Dash;
import dev.doorbell.experiments.results.figures.drawing.Node.Label;
import dev.doorbell.experiments.results.figures.drawing.Node.Turn;
import dev.doorbell.experiments.results.figures.drawing.Outline.Segment;
import dev.doorbell.experiments.results.print.Table;
import dev.doorbell.experiments.results.print.Units;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Writes a drawing as a picture of TikZ, so that LaTeX sets its texts. One unit is a point of PDF,
 * with y downwards as in the drawing. Each group begins with a comment, and the colour of a series
 * has its name.
 */
final class TikzWriter {
  private static final String LEGEND = "legend-";

  private final StringBuilder tex = new StringBuilder();
  private final Map<Paint, String> colours = new LinkedHashMap<>();

  private TikzWriter() {}

  static String write(Drawing drawing) {
    TikzWriter writer = new TikzWriter();
    writer.name(drawing.nodes());
    writer.nodes(drawing.nodes());
    return writer.document(drawing);
  }

  private String document(Drawing drawing) {
    Provenance from = drawing.provenance();
    StringBuilder out = new StringBuilder("% ");
    out.append(from.title()).append("; ").append(from.basis()).append("; run ").append(from.run());
    out.append(", config ").append(from.config()).append("\n% needs \\usepackage{tikz}; ");
    out.append(Math.round(drawing.width())).append(" bp wide\n");
    out.append("\\begin{tikzpicture}[x=1bp, y=-1bp, line cap=round, line join=round,\n");
    out.append("  every node/.style={inner sep=0pt}]\n");
    colours.forEach(
        (paint, name) ->
            out.append("\\definecolor{%s}{HTML}{%s}%n".formatted(name, digits(paint))));
    out.append("\\useasboundingbox (0,0) rectangle ");
    out.append(at(drawing.width(), drawing.height())).append(";\n");
    return out.append(tex).append("\\end{tikzpicture}\n").toString();
  }

  private static String digits(Paint paint) {
    return paint.hex().substring(1).toUpperCase(Locale.ROOT);
  }

  private String colour(Paint paint) {
    return colours.computeIfAbsent(paint, p -> "doorbell-" + digits(p));
  }

  /** Names the colours of series as the legend shows them. */
  private void name(List<Node> nodes) {
    for (Node node : nodes) {
      if (node instanceof Node.Group group) {
        if (group.id().startsWith(LEGEND)) {
          String name = "doorbell-" + group.id().substring(LEGEND.length());
          group.nodes().stream()
              .flatMap(each -> shown(each).stream())
              .findFirst()
              .ifPresent(paint -> colours.putIfAbsent(paint, name));
        }
        name(group.nodes());
      }
    }
  }

  private static Optional<Paint> shown(Node node) {
    return switch (node) {
      case Node.Fill fill -> Optional.of(fill.paint());
      case Node.Stroke stroke -> Optional.of(stroke.paint());
      default -> Optional.empty();
    };
  }

  private void nodes(List<Node> nodes) {
    for (Node node : nodes) {
      switch (node) {
        case Node.Group group -> {
          line("%% %s", group.id());
          nodes(group.nodes());
        }
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
        "\\node[anchor=%s, text=%s, font=\\sffamily\\fontsize{%s}{%s}\\selectfont%s] at %s {%s};",
        anchor,
        colour(label.paint()),
        Units.digits(label.size(), 3),
        Units.digits(1.25 * label.size(), 3),
        label.turn() == Turn.UPWARDS ? ", rotate=90" : "",
        at(label.x(), label.y()),
        Table.latexEscaped(label.text()));
  }

  private static String lines(double width, Dash dash) {
    String line = ", line width=%sbp".formatted(Units.digits(width, 3));
    return dash.broken()
        ? "%s, line cap=butt, dash pattern=on %sbp off %sbp"
            .formatted(line, Units.digits(dash.on(), 3), Units.digits(dash.off(), 3))
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

  @SuppressWarnings("AnnotateFormatMethod") // the annotation would be a dependency
  private void line(String format, Object... values) {
    tex.append(String.format(Locale.ROOT, format, values)).append('\n');
  }
}
