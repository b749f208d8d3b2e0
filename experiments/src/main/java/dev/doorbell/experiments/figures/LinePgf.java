package dev.doorbell.experiments.figures;

import dev.doorbell.experiments.figures.LineFigure.Ceiling;
import dev.doorbell.experiments.figures.LineFigure.Line;
import dev.doorbell.experiments.figures.LineFigure.Panel;
import dev.doorbell.experiments.figures.LineFigure.Point;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;

/** A line figure for pgfplots: one CSV a panel, a column a line, and columns for its interval. */
final class LinePgf {
  private LinePgf() {}

  static SequencedMap<String, String> of(LineFigure figure) {
    SequencedMap<String, String> files = new LinkedHashMap<>();
    Palette palette = Palette.of(figure.series());
    StringBuilder tex = Pgf.begin(figure.provenance(), figure.basisNote(), figure.samplesNote());
    Pgf.colours(tex, palette, figure.series());
    int panels = figure.panels().size();
    int columns = panels == 4 ? 2 : Math.min(3, panels);
    int rows = (panels + columns - 1) / columns;
    tex.append("\\begin{groupplot}[\n  group style={group size=").append(columns);
    tex.append(" by ").append(rows).append(", horizontal sep=5mm, vertical sep=16mm,");
    tex.append(" ylabels at=edge left, yticklabels at=edge left},\n");
    tex.append("  width=").append(panels == 1 ? "84mm" : "64mm").append(", height=55mm,\n");
    tex.append(figure.x().log() ? "  xmode=log,\n" : "");
    tex.append(figure.x().unit().equals("B") ? "  log basis x=2,\n" : "");
    tex.append(figure.y().log() ? "  ymode=log,\n" : "");
    tex.append("  xlabel style={align=center}, unbounded coords=discard, grid=major,\n");
    tex.append(
        "  legend style={at={(0,1.25)}, anchor=south west, draw=none, font=\\scriptsize},\n");
    tex.append("  legend columns=4, mark size=1.5pt]\n");
    for (Panel panel : figure.panels()) {
      String csv =
          Sheet.identifier(
                  panel.title().isEmpty() || panels == 1
                      ? figure.name()
                      : figure.name() + "-" + panel.title())
              + ".csv";
      files.put(csv, figure.stepped() ? apart(panel) : csv(panel));
      panel(figure, panel, palette, csv, tex);
    }
    tex.append("\\end{groupplot}\n").append(Pgf.end());
    files.putFirst(Sheet.identifier(figure.name()) + ".tex", tex.toString());
    return files;
  }

  private static void panel(
      LineFigure figure, Panel panel, Palette palette, String csv, StringBuilder tex) {
    String x = Pgf.withUnit(figure.x().title(), figure.x().unit());
    String y = Pgf.withUnit(figure.y().title(), figure.y().unit());
    tex.append("\\nextgroupplot[title={").append(Pgf.escaped(panel.title()));
    tex.append("}, xlabel=").append(Pgf.titled(x, figure.basisNote()));
    tex.append(", ylabel={").append(Pgf.escaped(y)).append("}]\n");
    for (Line line : panel.lines()) {
      String column = Sheet.identifier(line.series());
      tex.append("\\addplot+[").append(Pgf.colourOf(line.series())).append(", ");
      if (figure.stepped()) {
        tex.append("no marks, const plot] table [col sep=comma, x=").append(column);
        tex.append("-x, y=").append(column).append("] {").append(csv).append("};\n");
      } else {
        tex.append(Pgf.mark(palette.style(line.series())));
        tex.append(", error bars/.cd, y dir=both, y explicit]\n  table [col sep=comma, x=x, y=");
        tex.append(column).append(", y error plus expr=\\thisrow{").append(column);
        tex.append("-hi}-\\thisrow{").append(column).append("}, y error minus expr=\\thisrow{");
        tex.append(column).append("}-\\thisrow{").append(column).append("-lo}] {");
        tex.append(csv).append("};\n");
      }
      tex.append("\\addlegendentry{").append(Pgf.escaped(line.series())).append("}\n");
    }
    for (Ceiling ceiling : panel.ceilings()) {
      tex.append("\\addplot[").append(Pgf.colourOf(ceiling.series().getFirst()));
      tex.append(", densely dashed, no marks, forget plot] coordinates {");
      ceiling
          .points()
          .forEach(
              point ->
                  tex.append('(')
                      .append(Units.plain(point[0]))
                      .append(',')
                      .append(Units.plain(point[1]))
                      .append(')'));
      tex.append("};\n");
    }
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

  /** Each line with abscissas of its own. */
  private static String apart(Panel panel) {
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
    for (int row = 0; row < longest; row++) {
      Object[] cells = new Object[names.length];
      for (int i = 0; i < panel.lines().size(); i++) {
        Line line = panel.lines().get(i);
        boolean there = row < line.points().size();
        cells[2 * i] = there ? line.points().get(row).x() : Double.NaN;
        cells[2 * i + 1] = there ? line.points().get(row).y() : Double.NaN;
      }
      Pgf.row(csv, cells);
    }
    return csv.toString();
  }
}
