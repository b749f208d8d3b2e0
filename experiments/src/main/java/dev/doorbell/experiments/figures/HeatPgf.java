package dev.doorbell.experiments.figures;

import dev.doorbell.experiments.figures.HeatFigure.Cell;
import dev.doorbell.experiments.figures.HeatFigure.Panel;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/** A heat map for pgfplots: a CSV with a row a cell, and squares in the winner's colour. */
final class HeatPgf {
  private HeatPgf() {}

  static SequencedMap<String, String> of(HeatFigure figure) {
    String name = Sheet.identifier(figure.name());
    Palette palette = Palette.of(figure.series());
    StringBuilder csv = new StringBuilder();
    Pgf.row(csv, "panel", "x", "y", "across", "down", "winner", "value", "ratio", "apart");
    StringBuilder tex = Pgf.begin(figure.provenance(), figure.basisNote(), figure.samplesNote());
    Pgf.colours(tex, palette, figure.series());
    int columns = Math.min(3, figure.panels().size());
    tex.append("\\begin{groupplot}[\n  group style={group size=").append(columns).append(" by ");
    tex.append((figure.panels().size() + columns - 1) / columns);
    tex.append(", horizontal sep=6mm, vertical sep=16mm, yticklabels at=edge left},\n");
    tex.append("  x=7mm, y=7mm, enlarge x limits={abs=0.5}, enlarge y limits={abs=0.5},\n");
    tex.append("  xtick={0,...,").append(figure.across().size() - 1).append("}, xticklabels={");
    tex.append(Pgf.list(figure.across())).append("}, xticklabel style={rotate=60, anchor=east},\n");
    tex.append("  ytick={0,...,").append(figure.down().size() - 1).append("}, yticklabels={");
    tex.append(Pgf.list(figure.down().reversed())).append("}, xlabel style={align=center}]\n");
    for (Panel panel : figure.panels()) {
      tex.append("\\nextgroupplot[title={").append(Pgf.escaped(panel.title()));
      tex.append("}, xlabel=").append(Pgf.titled(figure.xTitle(), figure.basisNote()));
      tex.append("]\n");
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
        double lead = Double.isNaN(cell.ratio()) ? 2 : Math.min(2, cell.ratio());
        String fill =
            cell.apart()
                ? "%s!%d"
                    .formatted(
                        Pgf.colourOf(cell.winner()), Math.round(75 * (0.25 + 0.75 * (lead - 1))))
                : "black!10";
        tex.append(
            "\\fill[%s] (axis cs:%s,%s) rectangle (axis cs:%s,%s);\n"
                .formatted(fill, cell.x() - 0.5, y - 0.5, cell.x() + 0.5, y + 0.5));
        if (!Double.isNaN(cell.ratio())) {
          tex.append(
              "\\node[font=\\tiny] at (axis cs:%d,%d) {%s};\n"
                  .formatted(cell.x(), y, HeatChart.ratio(cell.ratio())));
        }
      }
      for (String series : figure.series()) {
        tex.append("\\addlegendimage{only marks, mark=square*, ");
        tex.append(Pgf.colourOf(series)).append("}\n\\addlegendentry{");
        tex.append(Pgf.escaped(series)).append("}\n");
      }
    }
    tex.append("\\end{groupplot}\n").append(Pgf.end());
    SequencedMap<String, String> files = new LinkedHashMap<>();
    files.put(name + ".tex", tex.toString());
    files.put(name + ".csv", csv.toString());
    return files;
  }
}
