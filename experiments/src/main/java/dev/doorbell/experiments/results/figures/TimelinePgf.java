package dev.doorbell.experiments.results.figures;

import static dev.doorbell.experiments.results.figures.PgfSheet.bp;
import static dev.doorbell.experiments.results.figures.PgfSheet.point;

import dev.doorbell.experiments.plan.Timeline.Kind;
import dev.doorbell.experiments.plan.Timeline.Step;
import dev.doorbell.experiments.results.figures.drawing.Node.Dash;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.StringJoiner;

/**
 * A timeline for pgfplots: a CSV with a row a step, one a kind of what travels, and numbers on the
 * lanes. Without the steps' texts, whose addresses differ from process to process.
 */
final class TimelinePgf {
  private final TimelineFigure figure;
  private final String name;
  private final List<String> lanes;
  private final Sheet sheet;
  private final SequencedMap<String, String> files = new LinkedHashMap<>();

  private TimelinePgf(TimelineFigure figure) {
    this.figure = figure;
    this.name = Sheet.identifier(figure.name());
    this.lanes = figure.lanes();
    this.sheet = TimelineChart.sheet(figure, Chart.width(figure));
  }

  static SequencedMap<String, String> of(TimelineFigure figure) {
    return new TimelinePgf(figure).files();
  }

  private SequencedMap<String, String> files() {
    StringBuilder definitions = new StringBuilder();
    Pgf.colour(definitions, "doorbell-fence", TimelineChart.FENCE);
    Pgf.colour(definitions, "doorbell-span", TimelineChart.SPAN);
    Pgf.colour(definitions, "doorbell-leader", Theme.BAND_CENTRE);
    List<PgfSheet.Key> legend = new ArrayList<>();
    StringBuilder body = new StringBuilder();
    for (String lane : lanes) {
      body.append("\\draw[doorbell-rule, line width=1bp] (axis cs:0,").append(height(lane));
      body.append(") -- (axis cs:").append(Units.plain(sheet.x().scale().high()));
      body.append(',').append(height(lane)).append(");\n");
    }
    for (Kind kind : Kind.values()) {
      if (figure.timeline().steps().stream().anyMatch(s -> s.kind() == kind && kind.travels())) {
        String colour = "doorbell-" + Sheet.identifier(kind.words());
        Pgf.colour(definitions, colour, TimelineChart.ink(kind));
        String csv = name + "-" + Sheet.identifier(kind.words()) + ".csv";
        files.put(csv, travels(kind));
        body.append("\\addplot[").append(colour).append(", line width=");
        body.append(kind == Kind.PACKET ? "1.2bp" : ".7bp").append(dash(kind));
        body.append(", no marks, unbounded coords=jump, forget plot]\n");
        body.append("  table [col sep=comma, x=time, y=lane] {").append(csv).append("};\n");
        legend.add(
            new PgfSheet.Key("no marks, line width=1bp, " + colour + dash(kind), kind.words()));
      }
    }
    String over = over();
    PgfSheet tex =
        new PgfSheet(
            sheet,
            figure.provenance(),
            figure.basisNote(),
            TimelineFigure.SAMPLES_NOTE,
            definitions.toString(),
            legend,
            List.of(new PgfSheet.Panel(figure.timeline().title(), 0, body.toString(), over)));
    files.putFirst(name + ".tex", tex.text(numbered()));
    files.put(name + ".csv", csv());
    return files;
  }

  private List<Step> marks() {
    return figure.timeline().steps().stream().filter(step -> !step.kind().travels()).toList();
  }

  /** Of a lane, in the ordinate's units. */
  private double height(String lane) {
    return lanes.size() - lanes.indexOf(lane) - 0.5;
  }

  /** Two rows a step, and one that lifts the pen. What ends beyond the axis is left out. */
  private String travels(Kind kind) {
    StringBuilder csv = new StringBuilder();
    Pgf.row(csv, "time", "lane");
    for (Step step : figure.timeline().steps()) {
      if (step.kind() == kind && step.until() <= sheet.x().scale().high()) {
        Pgf.row(csv, step.from(), height(step.place()));
        Pgf.row(csv, step.until(), height(step.target()));
        Pgf.row(csv, Double.NaN, Double.NaN);
      }
    }
    return csv.toString();
  }

  private static String dash(Kind kind) {
    Dash dash = TimelineChart.dash(kind);
    return dash.equals(Dash.NONE)
        ? ""
        : ", dash pattern=on %sbp off %sbp".formatted(dash.on(), dash.off());
  }

  private double x(long nanos) {
    return sheet.x().scale().at((double) nanos) * sheet.panelWidth();
  }

  private double y(String lane) {
    return height(lane) / lanes.size() * sheet.panelHeight();
  }

  /** Spans, and discs pushed apart where they would touch, with a leader to their time. */
  private String over() {
    StringBuilder tex = new StringBuilder();
    List<Step> marks = marks();
    for (Step step : marks) {
      if (x(step.until()) - x(step.from()) > 0.5) {
        tex.append("\\fill[doorbell-").append(step.kind() == Kind.FENCE ? "fence" : "span");
        tex.append("] ").append(point(x(step.from()), y(step.place()) - 2)).append(" rectangle ");
        tex.append(point(x(step.until()), y(step.place()) + 2)).append(";\n");
      }
    }
    for (String lane : lanes) {
      double free = 0;
      for (int i = 0; i < marks.size(); i++) {
        Step step = marks.get(i);
        if (step.place().equals(lane)) {
          double at = (x(step.from()) + x(step.until())) / 2;
          double centre = Math.max(at, free + TimelineChart.DISC);
          tex.append("\\draw[doorbell-leader, line width=.4bp] ").append(point(at, y(lane)));
          tex.append(" -- ").append(point(centre, y(lane) + 8 - TimelineChart.DISC));
          tex.append(";\n").append(disc(i + 1, point(centre, y(lane) + 8))).append('\n');
          free = centre + TimelineChart.DISC + 0.8;
        }
      }
    }
    return tex.toString();
  }

  private static String disc(int number, String at) {
    return "\\node[circle, fill=black!87, text=white, inner sep=0pt, minimum size=%s, font=%s] at %s {%d};"
        .formatted(bp(2 * TimelineChart.DISC), Pgf.font(5), at, number);
  }

  /** What the numbers stand for. */
  private String numbered() {
    StringJoiner text = new StringJoiner(" \\quad\n  ");
    List<Step> marks = marks();
    for (int i = 0; i < marks.size(); i++) {
      String what = marks.get(i).kind().words() + ", " + Units.time((double) marks.get(i).until());
      text.add("\\mbox{\\textbf{%d} %s}".formatted(i + 1, Pgf.escaped(what)));
    }
    return text.toString();
  }

  private String csv() {
    StringBuilder csv = new StringBuilder();
    Pgf.row(csv, "from", "until", "lane", "target", "kind", "bytes");
    for (Step step : figure.timeline().steps()) {
      Pgf.row(
          csv,
          step.from(),
          step.until(),
          step.place(),
          step.target(),
          step.kind().words(),
          step.bytes());
    }
    return csv.toString();
  }
}
