package dev.doorbell.experiments.figures;

import dev.doorbell.experiments.plan.Timeline.Kind;
import dev.doorbell.experiments.plan.Timeline.Step;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * A timeline for pgfplots: a CSV with a row a step, and lines between lanes. Without the steps'
 * texts, whose addresses differ from process to process.
 */
final class TimelinePgf {
  private TimelinePgf() {}

  static SequencedMap<String, String> of(TimelineFigure figure) {
    String name = Sheet.identifier(figure.name());
    List<String> lanes = figure.lanes();
    StringBuilder csv = new StringBuilder();
    Pgf.row(csv, "from", "until", "lane", "target", "kind", "bytes");
    StringBuilder tex = Pgf.begin(figure.provenance(), figure.basisNote(), "one message");
    tex.append("\\begin{axis}[y=10mm, width=84mm, enlarge y limits={abs=0.5}, xmin=0,\n");
    tex.append("  scaled x ticks=false, xlabel style={align=center}, xlabel=");
    tex.append(Pgf.titled("virtual time (ns)", figure.basisNote()));
    tex.append(", ytick={0,...,").append(lanes.size() - 1).append("}, yticklabels={");
    tex.append(Pgf.list(lanes.reversed())).append("}]\n");
    int number = 0;
    for (Step step : figure.timeline().steps()) {
      int from = lanes.size() - 1 - lanes.indexOf(step.place());
      int to = lanes.size() - 1 - lanes.indexOf(step.target());
      Pgf.row(csv, step.from(), step.until(), from, to, step.kind().words(), step.bytes());
      tex.append(
          "\\addplot[%s, no marks] coordinates {(%d,%d) (%d,%d)};\n"
              .formatted(style(step.kind()), step.from(), from, step.until(), to));
      if (!step.kind().travels()) {
        number++;
        tex.append(
            "\\node[font=\\tiny, above] at (axis cs:%d,%d) {%d}; %% %d %s\n"
                .formatted(step.from(), from, number, number, step.kind().words()));
      }
    }
    tex.append("\\end{axis}\n").append(Pgf.end());
    SequencedMap<String, String> files = new LinkedHashMap<>();
    files.put(name + ".tex", tex.toString());
    files.put(name + ".csv", csv.toString());
    return files;
  }

  private static String style(Kind kind) {
    return switch (kind) {
      case WRITE_TLP -> "orange";
      case READ_TLP -> "blue, dashed";
      case COMPLETION_TLP -> "cyan, dotted";
      case PACKET -> "black, thick";
      case FENCE -> "orange, line width=2pt";
      default -> "gray, line width=2pt";
    };
  }
}
