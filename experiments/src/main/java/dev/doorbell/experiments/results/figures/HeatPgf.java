package dev.doorbell.experiments.results.figures;

import static dev.doorbell.experiments.results.figures.PgfSheet.point;

import dev.doorbell.experiments.results.figures.HeatFigure.Cell;
import dev.doorbell.experiments.results.figures.HeatFigure.Panel;
import dev.doorbell.experiments.results.figures.Palette.Style;
import dev.doorbell.experiments.results.figures.drawing.Ink;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/** A heat map for pgfplots: a CSV with a row a cell, and cells as in the drawing. */
final class HeatPgf {
  private HeatPgf() {}

  static SequencedMap<String, String> of(HeatFigure figure) {
    Palette palette = Palette.of(figure.series());
    Sheet sheet = HeatChart.sheet(figure, Chart.width(figure));
    double width = sheet.panelWidth() / figure.across().size();
    double height = sheet.panelHeight() / figure.down().size();
    StringBuilder csv = new StringBuilder();
    Pgf.row(csv, "panel", "x", "y", "across", "down", "winner", "value", "ratio", "apart");
    List<PgfSheet.Panel> panels = new ArrayList<>();
    for (Panel panel : figure.panels()) {
      StringBuilder body = new StringBuilder();
      for (Cell cell : panel.cells()) {
        int y = figure.down().size() - 1 - cell.y();
        Pgf.row(
            csv,
            panel.title(),
            cell.x(),
            y,
            figure.across().get(cell.x()),
            figure.down().get(cell.y()),
            cell.winner(),
            cell.value(),
            cell.ratio(),
            cell.apart() ? 1 : 0);
        cell(cell, y, width, height, palette, body);
      }
      for (int[] gap : figure.gaps(panel)) {
        double left = gap[0] * width;
        double bottom = (figure.down().size() - 1 - gap[1]) * height;
        body.append("\\fill[doorbell-gap] ").append(point(left, bottom)).append(" rectangle ");
        body.append(point(left + width, bottom + height)).append(";\n");
      }
      panels.add(new PgfSheet.Panel(panel.title(), 0, "", body.toString()));
    }
    StringBuilder definitions = new StringBuilder(Pgf.styles(palette, figure.series()));
    Pgf.colour(definitions, "doorbell-undecided", HeatChart.UNDECIDED);
    List<PgfSheet.Key> legend = new ArrayList<>();
    figure
        .series()
        .forEach(name -> legend.add(new PgfSheet.Key("only marks, " + Pgf.styleOf(name), name)));
    if (figure.undecided()) {
      legend.add(
          new PgfSheet.Key(Pgf.area("doorbell-undecided") + ", draw=black!50", HeatChart.NOBODY));
    }
    if (figure.gaps()) {
      Pgf.colour(definitions, "doorbell-gap", HeatChart.GAP);
      legend.add(new PgfSheet.Key(Pgf.area("doorbell-gap"), "no result"));
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
    SequencedMap<String, String> files = new LinkedHashMap<>();
    String name = Sheet.identifier(figure.name());
    files.put(name + ".tex", tex.text());
    files.put(name + ".csv", csv.toString());
    return files;
  }

  /** In points from the panel's lower left corner: ground, marker, number. */
  private static void cell(
      Cell cell, int y, double width, double height, Palette palette, StringBuilder tex) {
    double left = cell.x() * width;
    double bottom = y * height;
    String text = HeatChart.ratio(cell.ratio());
    double size = HeatChart.fitting(text, width);
    boolean numbered = size > 0 && height > 14;
    String area =
        point(left + 0.3, bottom + 0.3)
            + " rectangle "
            + point(left + width - 0.3, bottom + height - 0.3);
    if (!cell.apart()) {
      tex.append("\\draw[black!20, fill=doorbell-undecided, line width=.5bp] ");
      tex.append(area).append(";\n");
      if (numbered) {
        tex.append("\\node[inner sep=0pt, text=black!60, font=").append(Pgf.font(size));
        tex.append("] at ").append(point(left + width / 2, bottom + height / 2));
        tex.append(" {").append(Pgf.escaped(text)).append("};\n");
      }
      return;
    }
    Style style = palette.style(cell.winner());
    Ink ground = style.ink().tint(HeatChart.strength(cell));
    tex.append("\\fill[fill={rgb,255:red,").append(ground.red()).append(";green,");
    tex.append(ground.green()).append(";blue,").append(ground.blue()).append("}] ");
    tex.append(area).append(";\n");
    String ink = HeatChart.dark(ground) ? "white" : "black";
    tex.append("\\draw[").append(Pgf.styleOf(cell.winner())).append(", mark size=1.7bp, ");
    tex.append("every mark/.append style={draw=").append(ink);
    tex.append(style.marker() == Marker.RING ? "" : ", fill=" + ink);
    tex.append("}] plot[only marks] coordinates {");
    tex.append(point(left + width / 2, bottom + height * (numbered ? 0.67 : 0.5))).append("};\n");
    if (numbered) {
      tex.append("\\node[anchor=base, inner sep=0pt, text=").append(ink).append(", font=");
      tex.append(Pgf.font(size)).append("] at ").append(point(left + width / 2, bottom + 3.2));
      tex.append(" {").append(Pgf.escaped(text)).append("};\n");
    }
  }
}
