package dev.doorbell.experiments.results.figures.drawing;

import java.util.List;

/** What a drawing is made of; later nodes cover earlier ones. */
public sealed interface Node {

  /**
   * Nodes that belong together, such as one line of a chart with its markers.
   *
   * @param id what an SVG viewer or script finds them by; unique in the drawing
   * @param role what groups of a kind have in common, such as a line and its legend entry, so that
   *     a script can find all of them; an SVG class, empty for none
   */
  record Group(String id, String role, List<Node> nodes) implements Node {
    public Group {
      nodes = List.copyOf(nodes);
    }

    public Group(String id, List<Node> nodes) {
      this(id, "", nodes);
    }
  }

  /** A line along an outline, {@code width} points wide. */
  record Stroke(Outline outline, Ink ink, double width, Dash dash) implements Node {}

  /** An outline filled. */
  record Fill(Outline outline, Ink ink) implements Node {}

  /**
   * One line of text.
   *
   * @param text characters that the typeface lacks become question marks
   * @param x the anchor's place, points
   * @param y the baseline, points
   * @param size of the type, points
   */
  record Label(String text, double x, double y, double size, Anchor anchor, Turn turn, Ink ink)
      implements Node {
    public Label {
      text = Typeface.drawable(text);
    }

    public Label(String text, double x, double y, double size, Anchor anchor, Ink ink) {
      this(text, x, y, size, anchor, Turn.NONE, ink);
    }
  }

  /** Which part of a text its x says. */
  enum Anchor {
    START,
    MIDDLE,
    END
  }

  /** How a text stands. */
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
