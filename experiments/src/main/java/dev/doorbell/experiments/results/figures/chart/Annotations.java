package dev.doorbell.experiments.results.figures.chart;

import dev.doorbell.experiments.results.figures.chart.AxisLimits.Note;
import dev.doorbell.experiments.results.figures.drawing.Node;
import dev.doorbell.experiments.results.figures.drawing.Node.Anchor;
import dev.doorbell.experiments.results.figures.drawing.Node.Dash;
import dev.doorbell.experiments.results.figures.drawing.Node.Stroke;
import dev.doorbell.experiments.results.figures.drawing.Outline;
import dev.doorbell.experiments.results.figures.drawing.PlotArea;
import dev.doorbell.experiments.results.figures.drawing.Theme;
import dev.doorbell.experiments.results.figures.drawing.Typeface;
import java.util.ArrayList;
import java.util.List;

/** The notes of a figure's description, in one panel. */
final class Annotations {
  private static final Dash LINE = new Dash(2, 1.5);
  private static final double GAP = 2.5;

  private Annotations() {}

  /** Draws all that lie within the axes. */
  static void draw(AxisLimits limits, PlotArea area, List<Node> out) {
    List<Node> nodes = new ArrayList<>();
    for (Note note : limits.notes()) {
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
    boolean right = x + GAP + Typeface.width(note.text(), Theme.SMALL) <= area.right();
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
