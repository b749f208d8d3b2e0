package dev.doorbell.experiments.results.figures;

import static dev.doorbell.experiments.results.figures.PgfSheet.point;

import dev.doorbell.experiments.results.figures.LineFigure.Ceiling;
import dev.doorbell.experiments.results.figures.LineFigure.Line;
import dev.doorbell.experiments.results.figures.LineFigure.Mark;
import dev.doorbell.experiments.results.figures.LineFigure.Panel;
import dev.doorbell.experiments.results.figures.LineFigure.Point;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;

/** A line figure for pgfplots: one CSV a panel, a column a line, and columns for its interval. */
final class LinePgf {
  private final LineFigure figure;
  private final Sheet sheet;
  private final SequencedMap<String, String> files = new LinkedHashMap<>();

  private LinePgf(LineFigure figure) {
    this.figure = figure;
    this.sheet = LineChart.sheet(figure, Chart.width(figure));
  }

  static SequencedMap<String, String> of(LineFigure figure) {
    return new LinePgf(figure).files();
  }

  private SequencedMap<String, String> files() {
    StringBuilder definitions = new StringBuilder();
    definitions.append(Pgf.styles(Palette.of(figure.series()), figure.series()));
    Pgf.colour(definitions, "doorbell-band", Theme.BAND);
    Pgf.colour(definitions, "doorbell-band-centre", Theme.BAND_CENTRE);
    List<PgfSheet.Key> legend = new ArrayList<>();
    figure.series().forEach(name -> legend.add(new PgfSheet.Key(Pgf.styleOf(name), name)));
    if (figure.hasCeilings()) {
      String image = "doorbell-quiet, line width=.8bp, dash pattern=on 3bp off 2bp, no marks";
      legend.add(new PgfSheet.Key(image, "ceiling of the path model"));
    }
    if (figure.hasMarks()) {
      legend.add(new PgfSheet.Key(Pgf.area("doorbell-band"), "crossover, 95 % interval"));
    }
    List<PgfSheet.Panel> panels = new ArrayList<>();
    for (Panel panel : figure.panels()) {
      boolean one = panel.title().isEmpty() || figure.panels().size() == 1;
      String name = one ? figure.name() : figure.name() + "-" + panel.title();
      String csv = Sheet.identifier(name) + ".csv";
      files.put(csv, figure.stepped() ? apart(panel) : csv(panel));
      MarkRow marks = LineChart.marks(figure, panel, sheet);
      panels.add(new PgfSheet.Panel(panel.title(), marks.height(), body(panel, csv), over(marks)));
    }
    PgfSheet tex =
        new PgfSheet(
            sheet,
            figure.provenance(),
            figure.basisNote(),
            figure.samplesNote(),
            definitions.toString(),
            legend,
            panels);
    files.putFirst(Sheet.identifier(figure.name()) + ".tex", tex.text());
    return files;
  }

  private String body(Panel panel, String csv) {
    StringBuilder tex = new StringBuilder();
    Scale x = sheet.x().scale();
    Scale y = sheet.y().scale();
    for (Mark mark : panel.marks()) {
      double from = Math.max(x.low(), mark.interval().lower());
      double to = Math.min(x.high(), mark.interval().upper());
      if (from < to) {
        tex.append("\\fill[doorbell-band] ").append(at(from, y.low())).append(" rectangle ");
        tex.append(at(to, y.high())).append(";\n");
      }
      tex.append("\\draw[doorbell-band-centre, line width=.5bp, dash pattern=on 1.5bp off 1.5bp] ");
      tex.append(at(mark.x(), y.low())).append(" -- ").append(at(mark.x(), y.high()));
      tex.append("; % ").append(mark.first()).append(" and ").append(mark.second()).append('\n');
    }
    for (Ceiling ceiling : panel.ceilings()) {
      tex.append("\\addplot[").append(Pgf.colourOf(ceiling.series().getFirst()));
      tex.append(", line width=.8bp, dash pattern=on 3bp off 2bp, no marks, forget plot]\n");
      tex.append("  coordinates {");
      for (double[] point : ceiling.points()) {
        tex.append('(').append(Units.plain(point[0])).append(',');
        tex.append(Units.plain(point[1])).append(')');
      }
      tex.append("};\n");
    }
    for (Line line : panel.lines().reversed()) { // the first of the legend lies on top
      if (figure.stepped()) {
        steps(line, csv, tex);
      } else {
        line(line, csv, tex);
      }
    }
    return tex.toString();
  }

  private static String at(double x, double y) {
    return "(axis cs:" + Units.plain(x) + "," + Units.plain(y) + ")";
  }

  private static void line(Line line, String csv, StringBuilder tex) {
    String column = Sheet.identifier(line.series());
    tex.append("\\addplot[").append(Pgf.styleOf(line.series()));
    tex.append(", forget plot, error bars/.cd, y dir=both, y explicit, error mark=none,\n");
    tex.append("  error bar style={line width=.7bp, solid}] table [col sep=comma, x=x, y=");
    tex.append(column).append(",\n  y error plus expr=\\thisrow{").append(column);
    tex.append("-hi}-\\thisrow{").append(column).append("}, y error minus expr=\\thisrow{");
    tex.append(column).append("}-\\thisrow{").append(column).append("-lo}] {");
    tex.append(csv).append("};\n");
  }

  /** A distribution, and a marker at its median. */
  private static void steps(Line line, String csv, StringBuilder tex) {
    String column = Sheet.identifier(line.series());
    tex.append("\\addplot[").append(Pgf.styleOf(line.series()));
    tex.append(", no marks, const plot, forget plot] table [col sep=comma, x=");
    tex.append(column).append("-x, y=").append(column).append("] {").append(csv).append("};\n");
    tex.append("\\addplot[").append(Pgf.styleOf(line.series()));
    tex.append(", only marks, forget plot] coordinates {(");
    tex.append(Units.plain(LineChart.median(line).x())).append(",0.5)};\n");
  }

  /** The labels of crossovers above a panel: the markers of both lines, and where. */
  private String over(MarkRow marks) {
    StringBuilder tex = new StringBuilder();
    for (MarkRow.Label label : marks.labels()) {
      double up = sheet.panelHeight() + label.up();
      tex.append(marker(label.mark().first(), label.left() + MarkRow.MARKER, up));
      tex.append(marker(label.mark().second(), label.left() + 3.4 * MarkRow.MARKER, up));
      tex.append("\\node[anchor=west, inner sep=0pt, font=").append(Pgf.font(Theme.SMALL));
      tex.append("] at ").append(point(label.left() + MarkRow.MARKERS, up));
      tex.append(" {").append(Pgf.escaped(label.text())).append("};\n");
    }
    return tex.toString();
  }

  private static String marker(String series, double x, double y) {
    return "\\draw[%s, mark size=%sbp] plot[only marks] coordinates {%s};%n"
        .formatted(Pgf.styleOf(series), MarkRow.MARKER, point(x, y));
  }

  private static String csv(Panel panel) {
    StringBuilder csv = new StringBuilder();
    csv.append('x');
    panel
        .lines()
        .forEach(
            line -> {
              String name = Sheet.identifier(line.series());
              csv.append(',').append(name).append(',').append(name).append("-lo,");
              csv.append(name).append("-hi");
            });
    csv.append('\n');
    Map<Double, Map<String, Point>> byX = new TreeMap<>();
    for (Line line : panel.lines()) {
      for (Point point : line.points()) {
        byX.computeIfAbsent(point.x(), _ -> new LinkedHashMap<>()).put(line.series(), point);
      }
    }
    byX.forEach(
        (x, points) -> {
          Object[] cells = new Object[1 + 3 * panel.lines().size()];
          cells[0] = x;
          int at = 1;
          for (Line line : panel.lines()) {
            Point point = points.get(line.series());
            cells[at++] = point == null ? Double.NaN : point.y();
            cells[at++] = point == null ? Double.NaN : point.lower();
            cells[at++] = point == null ? Double.NaN : point.upper();
          }
          Pgf.row(csv, cells);
        });
    return csv.toString();
  }

  /** Each line with abscissas of its own, from zero at its first to one at the edge. */
  private String apart(Panel panel) {
    StringBuilder csv = new StringBuilder();
    Object[] names = new Object[2 * panel.lines().size()];
    int longest = 0;
    for (int i = 0; i < panel.lines().size(); i++) {
      Line line = panel.lines().get(i);
      names[2 * i] = Sheet.identifier(line.series()) + "-x";
      names[2 * i + 1] = Sheet.identifier(line.series());
      longest = Math.max(longest, line.points().size());
    }
    Pgf.row(csv, names);
    for (int row = -1; row <= longest; row++) {
      Object[] cells = new Object[names.length];
      for (int i = 0; i < panel.lines().size(); i++) {
        List<Point> points = panel.lines().get(i).points();
        double x = Double.NaN;
        double y = Double.NaN;
        if (row < points.size()) {
          x = points.get(Math.max(0, row)).x();
          y = row < 0 ? 0 : points.get(row).y();
        } else if (row == points.size()) {
          x = sheet.x().scale().high();
          y = points.getLast().y();
        }
        cells[2 * i] = x;
        cells[2 * i + 1] = y;
      }
      Pgf.row(csv, cells);
    }
    return csv.toString();
  }
}
