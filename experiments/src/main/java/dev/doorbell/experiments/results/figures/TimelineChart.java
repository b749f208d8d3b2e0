package dev.doorbell.experiments.results.figures;

import dev.doorbell.experiments.plan.Timeline.Kind;
import dev.doorbell.experiments.plan.Timeline.Step;
import dev.doorbell.experiments.results.figures.PlotAxis.Tick;
import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.results.figures.drawing.Ink;
import dev.doorbell.experiments.results.figures.drawing.Node;
import dev.doorbell.experiments.results.figures.drawing.Node.Anchor;
import dev.doorbell.experiments.results.figures.drawing.Node.Dash;
import dev.doorbell.experiments.results.figures.drawing.Outline;
import dev.doorbell.experiments.results.figures.drawing.Typeface;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Lays out a {@link TimelineFigure}: what stays at a place is a numbered mark or span on its lane,
 * explained in the legend; what travels is a slanted line between two.
 */
final class TimelineChart {

  private static final double ROW = 30;
  static final double DISC = 3.4;
  static final Ink FENCE = new Ink(0xE69F00);
  static final Ink SPAN = new Ink(0xB9C2CC);

  private final TimelineFigure figure;
  private final List<String> lanes;
  private final List<Step> marks;

  private TimelineChart(TimelineFigure figure) {
    this.figure = figure;
    this.lanes = figure.lanes();
    this.marks = figure.timeline().steps().stream().filter(step -> !step.kind().travels()).toList();
  }

  /** How a figure is laid out, {@code width} points wide. */
  static Sheet sheet(TimelineFigure figure, double width) {
    TimelineChart chart = new TimelineChart(figure);
    int rows = chart.lanes.size();
    List<Tick> ticks = new ArrayList<>();
    for (int i = 0; i < rows; i++) {
      ticks.add(new Tick(rows - i - 0.5, chart.lanes.get(i), false));
    }
    long end =
        figure.timeline().steps().stream()
            .filter(step -> !step.kind().travels())
            .mapToLong(Step::until)
            .max()
            .orElse(1);
    return new Sheet(
        width,
        1,
        panel -> Axes.linear("virtual time", "ns", 0, (double) end, (int) (panel / 34)),
        new PlotAxis("", new Scale.Linear(0, Math.max(1, rows)), ticks),
        _ -> ROW * rows);
  }

  static Drawing draw(TimelineFigure figure, double width) {
    TimelineChart chart = new TimelineChart(figure);
    Sheet sheet = sheet(figure, width);
    return sheet.draw(
        List.of(new Sheet.Panel(figure.timeline().title(), 0, chart.contents())),
        new Sheet.Surroundings(
            figure.basisNote(), TimelineFigure.SAMPLES_NOTE, figure.provenance(), chart.legend()));
  }

  private Sheet.Contents contents() {
    return new Sheet.Contents() {
      @Override
      public void below(Frame frame, List<Node> out) {
        for (int lane = 0; lane < lanes.size(); lane++) {
          double y = frame.y(lanes.size() - lane - 0.5);
          out.add(
              new Node.Stroke(
                  Outline.line(frame.left(), y, frame.right(), y), Theme.RULE, 1, Dash.NONE));
        }
      }

      @Override
      public void above(Frame frame, List<Node> out) {
        travels(frame, out);
        spans(frame, out);
        numbers(frame, out);
      }
    };
  }

  private static double x(Frame frame, long nanos) {
    return frame.x((double) nanos);
  }

  private double y(Frame frame, String place) {
    return frame.y(lanes.size() - lanes.indexOf(place) - 0.5);
  }

  private void travels(Frame frame, List<Node> out) {
    for (Kind kind : travelling()) {
      List<Node> lines = new ArrayList<>();
      for (Step step : figure.timeline().steps()) {
        if (step.kind() == kind && x(frame, step.until()) <= frame.right() + 0.5) {
          lines.add(
              new Node.Stroke(
                  Outline.line(
                      x(frame, step.from()),
                      y(frame, step.place()),
                      x(frame, step.until()),
                      y(frame, step.target())),
                  ink(kind),
                  kind == Kind.PACKET ? 1.2 : 0.7,
                  dash(kind)));
        }
      }
      out.add(new Node.Group(Sheet.identifier(kind.words()), Flow.role(kind.words()), lines));
    }
  }

  private void spans(Frame frame, List<Node> out) {
    for (Step step : marks) {
      double from = x(frame, step.from());
      double to = x(frame, step.until());
      if (to - from > 0.5) {
        double y = y(frame, step.place());
        out.add(
            new Node.Fill(
                Outline.rectangle(from, y - 2, to - from, 4),
                step.kind() == Kind.FENCE ? FENCE : SPAN));
      }
    }
  }

  /** Discs on their lane, pushed apart where they would touch, with a leader to their time. */
  private void numbers(Frame frame, List<Node> out) {
    for (String lane : lanes) {
      double free = frame.left();
      double y = y(frame, lane);
      for (int i = 0; i < marks.size(); i++) {
        Step step = marks.get(i);
        if (!step.place().equals(lane)) {
          continue;
        }
        double at = (x(frame, step.from()) + x(frame, step.until())) / 2;
        double centre = Math.max(at, free + DISC);
        double above = y - 8;
        out.add(
            new Node.Stroke(
                Outline.line(at, y, centre, above + DISC), Theme.BAND_CENTRE, 0.4, Dash.NONE));
        out.addAll(number(i + 1, centre, above));
        free = centre + DISC + 0.8;
      }
    }
  }

  private static List<Node> number(int number, double x, double y) {
    String text = Integer.toString(number);
    double size = 5;
    return List.of(
        new Node.Fill(Outline.circle(x, y, DISC), Theme.INK),
        new Node.Label(text, x, y + Typeface.capHeight(size) / 2, size, Anchor.MIDDLE, Ink.WHITE));
  }

  private Set<Kind> travelling() {
    Set<Kind> kinds = EnumSet.noneOf(Kind.class);
    figure.timeline().steps().stream().map(Step::kind).filter(Kind::travels).forEach(kinds::add);
    return kinds;
  }

  private List<Flow.Item> legend() {
    List<Flow.Item> items = new ArrayList<>();
    for (int i = 0; i < marks.size(); i++) {
      Step step = marks.get(i);
      int number = i + 1;
      items.add(
          new Flow.Item(
              "%s, %s".formatted(step.kind().words(), Units.time((double) step.until())),
              Theme.INK,
              2 * DISC,
              (at, middle) -> number(number, at + DISC, middle)));
    }
    for (Kind kind : travelling()) {
      items.add(
          new Flow.Item(
              kind.words(),
              Theme.INK,
              12,
              (at, middle) ->
                  List.of(
                      new Node.Stroke(
                          Outline.line(at, middle, at + 12, middle), ink(kind), 1, dash(kind))),
              kind.words()));
    }
    return items;
  }

  static Ink ink(Kind kind) {
    return switch (kind) {
      case WRITE_TLP -> new Ink(0xD55E00);
      case READ_TLP -> new Ink(0x0072B2);
      case COMPLETION_TLP -> new Ink(0x56B4E9);
      default -> Ink.BLACK;
    };
  }

  static Dash dash(Kind kind) {
    return switch (kind) {
      case READ_TLP -> new Dash(2, 1.2);
      case COMPLETION_TLP -> new Dash(0.8, 0.8);
      default -> Dash.NONE;
    };
  }
}
