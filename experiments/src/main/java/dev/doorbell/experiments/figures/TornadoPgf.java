package dev.doorbell.experiments.figures;

import dev.doorbell.experiments.plan.Influence;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/** A tornado figure for pgfplots: a CSV with a row a constant, and bars from zero. */
final class TornadoPgf {
  private TornadoPgf() {}

  static SequencedMap<String, String> of(TornadoFigure figure) {
    String name = Sheet.identifier(figure.name());
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
    List<String> labels = new ArrayList<>();
    int rows = figure.influences().size();
    for (int i = 0; i < rows; i++) {
      Influence influence = figure.influences().get(i);
      labels.addFirst(TornadoFigure.constant(influence));
      Pgf.row(
          csv,
          rows - 1 - i,
          TornadoFigure.constant(influence),
          influence.constant().value(),
          influence.constant().unit(),
          influence.low(),
          influence.high(),
          figure.change(influence.atLow()),
          figure.change(influence.atHigh()),
          influence.range(),
          influence.constant().origin().name().toLowerCase(java.util.Locale.ROOT));
    }
    StringBuilder tex =
        Pgf.begin(figure.provenance(), figure.basisNote(), "one constant at a time");
    tex.append("\\begin{axis}[xbar, bar shift=0pt, bar width=2.2mm, y=4mm, width=60mm,\n");
    tex.append("  enlarge y limits={abs=0.6}, xlabel style={align=center},\n  xlabel=");
    tex.append(Pgf.titled("change of the prediction (%)", figure.basisNote()));
    tex.append(", title={").append(Pgf.escaped(figure.provenance().title()));
    tex.append("}, ytick={0,...,").append(Math.max(0, rows - 1)).append("}, yticklabels={");
    tex.append(Pgf.list(labels)).append("}, legend style={draw=none, font=\\scriptsize}]\n");
    Pgf.colour(tex, "doorbell-lowered", new dev.doorbell.experiments.figures.drawing.Ink(0x0072B2));
    Pgf.colour(tex, "doorbell-raised", new dev.doorbell.experiments.figures.drawing.Ink(0xD55E00));
    for (String side : List.of("low", "high")) {
      tex.append("\\addplot[draw=none, fill=doorbell-")
          .append(side.equals("low") ? "lowered" : "raised");
      tex.append("] table [col sep=comma, y=row, x=at-").append(side).append("-percent] {");
      tex.append(name).append(".csv};\n\\addlegendentry{constant ");
      tex.append(side.equals("low") ? "lowered" : "raised").append("}\n");
    }
    tex.append("\\end{axis}\n").append(Pgf.end());
    SequencedMap<String, String> files = new LinkedHashMap<>();
    files.put(name + ".tex", tex.toString());
    files.put(name + ".csv", csv.toString());
    return files;
  }
}
