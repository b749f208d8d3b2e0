package dev.doorbell.experiments.results.figures;

import dev.doorbell.experiments.results.figures.BarFigure.Bar;
import dev.doorbell.experiments.results.figures.BarFigure.Panel;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;

/** A bar figure for pgfplots: one CSV a panel, a row a group, columns for each series. */
final class BarPgf {
  private final BarFigure figure;
  private final Sheet sheet;
  private final double width;

  private BarPgf(BarFigure figure) {
    this.figure = figure;
    this.sheet = BarChart.sheet(figure, Chart.width(figure));
    this.width = BarChart.barWidth(figure, sheet.panelWidth());
  }

  static SequencedMap<String, String> of(BarFigure figure) {
    return new BarPgf(figure).files();
  }

  private SequencedMap<String, String> files() {
    SequencedMap<String, String> files = new LinkedHashMap<>();
    List<PgfSheet.Panel> panels = new ArrayList<>();
    for (Panel panel : figure.panels()) {
      boolean one = panel.title().isEmpty() || figure.panels().size() == 1;
      String name = one ? figure.name() : figure.name() + "-" + panel.title();
      String csv = Sheet.identifier(name) + ".csv";
      files.put(csv, csv(panel));
      panels.add(new PgfSheet.Panel(panel.title(), 0, body(csv), ""));
    }
    List<PgfSheet.Key> legend = new ArrayList<>();
    figure
        .series()
        .forEach(name -> legend.add(new PgfSheet.Key("only marks, " + Pgf.styleOf(name), name)));
    PgfSheet tex =
        new PgfSheet(
            sheet,
            figure.provenance(),
            figure.basisNote(),
            figure.samplesNote(),
            Pgf.styles(Palette.of(figure.series()), figure.series()),
            legend,
            panels);
    files.putFirst(Sheet.identifier(figure.name()) + ".tex", tex.text());
    return files;
  }

  /** Bars with their intervals; the marker above tells them apart without colour. */
  private String body(String csv) {
    StringBuilder tex = new StringBuilder();
    for (int i = 0; i < figure.series().size(); i++) {
      String series = figure.series().get(i);
      String column = Sheet.identifier(series);
      String x =
          "x expr=\\thisrow{at}+"
              + Units.digits((1 - width * figure.series().size()) / 2 + (i + 0.5) * width, 4);
      String interval =
          ", y error plus expr=\\thisrow{%1$s-hi}-\\thisrow{%1$s},\n  y error minus expr=\\thisrow{%1$s}-\\thisrow{%1$s-lo}] {%2$s};\n"
              .formatted(column, csv);
      if (figure.y().log()) {
        tex.append("\\addplot[").append(Pgf.styleOf(series)).append(", only marks, forget plot,\n");
        tex.append("  error bars/.cd, y dir=both, y explicit, error mark=none]\n  table [col sep=");
        tex.append("comma, ").append(x).append(", y=").append(column).append(interval);
        continue;
      }
      tex.append("\\addplot[ybar, bar shift=0pt, bar width=").append(Units.digits(0.9 * width, 4));
      tex.append(", fill=").append(Pgf.colourOf(series)).append(", draw=none, forget plot,\n");
      tex.append("  error bars/.cd, y dir=both, y explicit, error bar style={black, line width=");
      tex.append(
          ".6bp},\n  error mark options={black, mark size=1.6bp, line width=.6bp, rotate=90}]");
      tex.append("\n  table [col sep=comma, ").append(x).append(", y=").append(column);
      tex.append(interval);
      tex.append("\\addplot[").append(Pgf.styleOf(series)).append(", only marks, forget plot, ");
      tex.append("mark size=1.6bp, every mark/.append style={yshift=3bp");
      tex.append("}]\n  table [col sep=comma, ").append(x).append(", y=").append(column);
      tex.append("-hi] {").append(csv).append("};\n");
    }
    return tex.toString();
  }

  private String csv(Panel panel) {
    StringBuilder csv = new StringBuilder();
    List<Object> head = new ArrayList<>(List.of("at", "group"));
    for (String series : figure.series()) {
      String name = Sheet.identifier(series);
      head.addAll(List.of(name, name + "-lo", name + "-hi"));
    }
    Pgf.row(csv, head.toArray());
    for (int at = 0; at < figure.groups().size(); at++) {
      String group = figure.groups().get(at);
      List<Object> cells = new ArrayList<>(List.of(at, Sheet.identifier(group)));
      for (String series : figure.series()) {
        Optional<Bar> bar =
            panel.bars().stream()
                .filter(each -> each.group().equals(group) && each.series().equals(series))
                .findFirst();
        cells.add(bar.map(Bar::value).orElse(Double.NaN));
        cells.add(bar.map(Bar::lower).orElse(Double.NaN));
        cells.add(bar.map(Bar::upper).orElse(Double.NaN));
      }
      Pgf.row(csv, cells.toArray());
    }
    return csv.toString();
  }
}
