package dev.doorbell.experiments.results.figures.drawing;

import java.util.List;

/** The parts of a drawing; later nodes cover earlier ones. */
public sealed interface Node {

  /**
   * Nodes that belong together, such as one line of a chart with its markers.
   *
   * @param id identifies the group for an SVG viewer or script; unique in the drawing
   * @param role what groups of a kind have in common, such as a line and its legend entry, so that
   *     a script can find all of them; an SVG class, empty for none
   */
  record Group(String id, String role, List<Node> nodes) implements Node {

    public Group(String id, List<Node> nodes) {
      this(id, "", nodes);
    }
  }

  /** A line along an outline, {@code width} points wide. */
  record Stroke(Outline outline, Paint paint, double width, Dash dash) implements Node {
    /** An unbroken line from one point to another. */
    public static Stroke line(
        double x0, double y0, double x1, double y1, Paint paint, double width) {
      return new Stroke(Outline.line(x0, y0, x1, y1), paint, width, Dash.NONE);
    }
  }

  record Fill(Outline outline, Paint paint) implements Node {}

  /**
   * One line of text.
   *
   * @param text characters that the typeface lacks become question marks
   * @param x of the anchor, points
   * @param y of the baseline, points
   * @param size of the type, points
   */
  record Label(String text, double x, double y, double size, Anchor anchor, Turn turn, Paint paint)
      implements Node {
    public Label {
      text = Typeface.drawable(text);
    }

    public Label(String text, double x, double y, double size, Anchor anchor, Paint paint) {
      this(text, x, y, size, anchor, Turn.NONE, paint);
    }
  }

  /** The part of a text that stands at its x. */
  enum Anchor {
    START,
    MIDDLE,
    END
  }

  enum Turn {
    NONE,
    /** Read from below, as beside a vertical axis. */
    UPWARDS
  }

  /** Lengths of strokes and gaps, points; {@code on} of 0 is an unbroken line. */
  record Dash(double on, double off) {
    public static final Dash NONE = new Dash(0, 0);

    public boolean broken() {
      return on > 0;
    }
  }
}
