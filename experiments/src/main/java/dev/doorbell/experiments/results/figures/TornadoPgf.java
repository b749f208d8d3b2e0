package dev.doorbell.experiments.results.figures;

import dev.doorbell.experiments.plan.Influence;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.SequencedMap;

/** A tornado figure for pgfplots: a CSV with a row a constant, and bars from zero. */
final class TornadoPgf {
  private TornadoPgf() {}

  static SequencedMap<String, String> of(TornadoFigure figure) {
    String name = Sheet.identifier(figure.name());
    Sheet sheet = TornadoChart.sheet(figure, Chart.width(figure));
    StringBuilder definitions = new StringBuilder();
    Pgf.colour(definitions, "doorbell-lowered", TornadoChart.LOWER);
    Pgf.colour(definitions, "doorbell-raised", TornadoChart.HIGHER);
    StringBuilder body = new StringBuilder();
    for (String side : List.of("low", "high")) {
      body.append("\\addplot[xbar, bar shift=0pt, bar width=").append(TornadoChart.BAR);
      body.append(", draw=none, fill=doorbell-").append(side.equals("low") ? "lowered" : "raised");
      body.append(", forget plot]\n  table [col sep=comma, y=row, x=at-").append(side);
      body.append("-percent] {").append(name).append(".csv};\n");
    }
    body.append("\\draw[line width=.6bp] (axis cs:0,0) -- (axis cs:0,");
    body.append(Units.plain(sheet.y().scale().high())).append(");\n");
    PgfSheet tex =
        new PgfSheet(
            sheet,
            figure.provenance(),
            figure.basisNote(),
            figure.samplesNote(),
            definitions.toString(),
            List.of(
                new PgfSheet.Key(Pgf.area("doorbell-lowered"), "constant lowered"),
                new PgfSheet.Key(Pgf.area("doorbell-raised"), "constant raised")),
            List.of(new PgfSheet.Panel(figure.provenance().title(), 0, body.toString(), "")));
    SequencedMap<String, String> files = new LinkedHashMap<>();
    files.put(name + ".tex", tex.text());
    files.put(name + ".csv", csv(figure));
    return files;
  }

  private static String csv(TornadoFigure figure) {
    StringBuilder csv = new StringBuilder();
    Pgf.row(
        csv,
        "row",
        "constant",
        "value",
        "unit",
        "low",
        "high",
        "at-low-percent",
        "at-high-percent",
        "range",
        "origin");
    int rows = figure.influences().size();
    for (int i = 0; i < rows; i++) {
      Influence influence = figure.influences().get(i);
      Pgf.row(
          csv,
          rows - i - 0.5,
          TornadoFigure.constant(influence),
          influence.constant().value(),
          influence.constant().unit(),
          influence.low(),
          influence.high(),
          figure.change(influence.atLow()),
          figure.change(influence.atHigh()),
          influence.range(),
          influence.constant().origin().name().toLowerCase(Locale.ROOT));
    }
    return csv.toString();
  }
}
