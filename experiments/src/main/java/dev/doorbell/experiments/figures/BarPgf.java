package dev.doorbell.experiments.figures;

import dev.doorbell.experiments.figures.BarFigure.Bar;
import dev.doorbell.experiments.figures.BarFigure.Panel;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/** A bar figure for pgfplots: one CSV for all panels, a row a bar. */
final class BarPgf {
  private BarPgf() {}

  static SequencedMap<String, String> of(BarFigure figure) {
    Palette palette = Palette.of(figure.series());
    String name = Sheet.identifier(figure.name());
    StringBuilder csv = new StringBuilder();
    Pgf.row(csv, "panel", "at", "group", "series", "value", "lower", "upper");
    StringBuilder tex = Pgf.begin(figure.provenance(), figure.basisNote(), figure.samplesNote());
    Pgf.colours(tex, palette, figure.series());
    int columns = Math.min(3, figure.panels().size());
    tex.append("\\begin{groupplot}[\n  group style={group size=").append(columns).append(" by ");
    tex.append((figure.panels().size() + columns - 1) / columns);
    tex.append(", horizontal sep=12mm, vertical sep=18mm},\n  ybar, bar width=");
    double bar = 0.84 / figure.series().size();
    tex.append(Units.digits(bar, 3)).append(", x=20mm, enlarge x limits={abs=0.5}, ymin=0,\n");
    tex.append("  xtick=data, xlabel style={align=center}, height=50mm,\n  xticklabels={");
    tex.append(Pgf.list(figure.groups())).append("}, xtick={");
    for (int i = 0; i < figure.groups().size(); i++) {
      tex.append(i == 0 ? "" : ",").append(i);
    }
    tex.append("},\n  legend style={at={(0,1.2)}, anchor=south west, draw=none,");
    tex.append(" font=\\scriptsize}, legend columns=4]\n");
    for (int p = 0; p < figure.panels().size(); p++) {
      Panel panel = figure.panels().get(p);
      tex.append("\\nextgroupplot[title={").append(Pgf.escaped(panel.title()));
      tex.append("}, xlabel=").append(Pgf.titled(figure.groupTitle(), figure.basisNote()));
      tex.append(", ylabel={");
      tex.append(Pgf.escaped(Pgf.withUnit(figure.y().title(), figure.y().unit()))).append("}]\n");
      for (String series : figure.series()) {
        tex.append("\\addplot+[fill=").append(Pgf.colourOf(series));
        tex.append(", draw=none, error bars/.cd, y dir=both, y explicit,");
        tex.append(" error bar style={black}]\n  coordinates {");
        for (Bar each : panel.bars()) {
          if (each.series().equals(series)) {
            int at = figure.groups().indexOf(each.group());
            Pgf.row(
                csv,
                panel.title(),
                at,
                each.group(),
                series,
                each.value(),
                each.lower(),
                each.upper());
            tex.append(
                "(%d,%s) += (0,%s) -= (0,%s) "
                    .formatted(
                        at,
                        Units.plain(each.value()),
                        Units.digits(each.upper() - each.value(), 6),
                        Units.digits(each.value() - each.lower(), 6)));
          }
        }
        tex.append("};\n\\addlegendentry{").append(Pgf.escaped(series)).append("}\n");
      }
    }
    tex.append("\\end{groupplot}\n").append(Pgf.end());
    SequencedMap<String, String> files = new LinkedHashMap<>();
    files.put(name + ".tex", tex.toString());
    files.put(name + ".csv", csv.toString());
    return files;
  }
}
