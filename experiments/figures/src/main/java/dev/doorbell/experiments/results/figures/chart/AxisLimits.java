package dev.doorbell.experiments.results.figures.chart;

import dev.doorbell.experiments.results.figures.chart.AxisLimits.Note;
import dev.doorbell.experiments.results.figures.drawing.Node;
import dev.doorbell.experiments.results.figures.drawing.Node.Anchor;
import dev.doorbell.experiments.results.figures.drawing.Node.Dash;
import dev.doorbell.experiments.results.figures.drawing.Node.Stroke;
import dev.doorbell.experiments.results.figures.drawing.Outline;
import dev.doorbell.experiments.results.figures.drawing.PlotArea;
import dev.doorbell.experiments.results.figures.drawing.PlotAxis;
import dev.doorbell.experiments.results.figures.drawing.Theme;
import dev.doorbell.experiments.results.figures.drawing.Typeface;
import dev.doorbell.experiments.results.figures.layout.AxisBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

/** Limits of a figure's axes, and notes, in the axes' units; empty ends are the data's. */
public record AxisLimits(
    OptionalDouble xLow,
    OptionalDouble xHigh,
    OptionalDouble yLow,
    OptionalDouble yHigh,
    List<Note> notes) {

  /** A text at a place, or at a line across the panel where one coordinate is not there. */
  public record Note(OptionalDouble x, OptionalDouble y, String text) {}

  /** The abscissa; {@code usual} is the axis of the data. */
  PlotAxis horizontal(PlotAxis usual, String unit, int steps) {
    return within(usual, xLow, xHigh, unit, steps);
  }

  PlotAxis vertical(PlotAxis usual, String unit, int steps) {
    return within(usual, yLow, yHigh, unit, steps);
  }

  private static PlotAxis within(
      PlotAxis usual, OptionalDouble low, OptionalDouble high, String unit, int steps) {
    return low.isEmpty() && high.isEmpty()
        ? usual
        : AxisBuilder.between(
            usual, unit, low.orElse(usual.scale().low()), high.orElse(usual.scale().high()), steps);
  }

  private static final Dash LINE = new Dash(2, 1.5);
  private static final double GAP = 2.5;

  void drawNotes(PlotArea area, List<Node> out) {
    List<Node> nodes = new ArrayList<>();
    for (Note note : notes()) {
      double x = note.x().isPresent() ? area.x(note.x().getAsDouble()) : area.right();
      double y = note.y().isPresent() ? area.y(note.y().getAsDouble()) : area.top();
      if (Clipping.inside(area, x, y)) {
        note(note, x, y, area, nodes);
      }
    }
    if (!nodes.isEmpty()) {
      out.add(
          new Node.Group("notes-" + Math.round(area.left()) + "-" + Math.round(area.top()), nodes));
    }
  }

  private static void note(Note note, double x, double y, PlotArea area, List<Node> out) {
    boolean across = note.x().isEmpty();
    boolean down = note.y().isEmpty();
    if (across) {
      out.add(line(Outline.line(area.left(), y, area.right(), y)));
      boolean room = y - GAP - Theme.SMALL > area.top();
      double base = room ? y - GAP : y + GAP + Typeface.capHeight(Theme.SMALL);
      out.add(label(note.text(), area.right() - GAP, base, Anchor.END));
      return;
    }
    double base = down ? area.top() + GAP + Typeface.capHeight(Theme.SMALL) : y - GAP;
    boolean right = x + GAP + Typeface.room(note.text(), Theme.SMALL) <= area.right();
    if (down) {
      out.add(line(Outline.line(x, area.top(), x, area.bottom())));
    } else {
      out.add(new Node.Fill(Outline.circle(x, y, 1.1), Theme.INK));
    }
    out.add(label(note.text(), right ? x + GAP : x - GAP, base, right ? Anchor.START : Anchor.END));
  }

  private static Node line(Outline outline) {
    return new Stroke(outline, Theme.QUIET, 0.7, LINE);
  }

  private static Node label(String text, double x, double y, Anchor anchor) {
    return new Node.Label(text, x, y, Theme.SMALL, anchor, Theme.INK);
  }
}
