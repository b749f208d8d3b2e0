package dev.doorbell.experiments.results.figures.drawing;

import dev.doorbell.experiments.results.figures.drawing.Node.Dash;
import java.util.List;

/** Shapes that tell lines apart where colour does not: in grey print, and to some eyes. */
public enum Marker {
  DISC {
    @Override
    Outline outline(double x, double y, double r) {
      return Outline.circle(x, y, r);
    }
  },
  SQUARE {
    @Override
    Outline outline(double x, double y, double r) {
      double a = 0.9 * r;
      return Outline.rectangle(x - a, y - a, 2 * a, 2 * a);
    }
  },
  TRIANGLE_UP {
    @Override
    Outline outline(double x, double y, double r) {
      return Outline.polygon(
          x, y - 1.2 * r, x + 1.15 * r, y + 0.85 * r, x - 1.15 * r, y + 0.85 * r);
    }
  },
  TRIANGLE_DOWN {
    @Override
    Outline outline(double x, double y, double r) {
      return Outline.polygon(
          x, y + 1.2 * r, x + 1.15 * r, y - 0.85 * r, x - 1.15 * r, y - 0.85 * r);
    }
  },
  DIAMOND {
    @Override
    Outline outline(double x, double y, double r) {
      double a = 1.3 * r;
      return Outline.polygon(x, y - a, x + a, y, x, y + a, x - a, y);
    }
  },
  PLUS {
    @Override
    Outline outline(double x, double y, double r) {
      double a = 1.25 * r;
      double b = 0.45 * r;
      return Outline.polygon(
          x - b, y - a, x + b, y - a, x + b, y - b, x + a, y - b, x + a, y + b, x + b, y + b, x + b,
          y + a, x - b, y + a, x - b, y + b, x - a, y + b, x - a, y - b, x - b, y - b);
    }
  },
  CROSS {
    @Override
    Outline outline(double x, double y, double r) {
      double a = 1.1 * r;
      double b = 0.45 * r;
      return Outline.polygon(
          x, y - b, x + a - b, y - a, x + a, y - a + b, x + b, y, x + a, y + a - b, x + a - b,
          y + a, x, y + b, x - a + b, y + a, x - a, y + a - b, x - b, y, x - a, y - a + b,
          x - a + b, y - a);
    }
  };

  /** The shape about a centre; {@code r} is about half its height, so that all weigh alike. */
  abstract Outline outline(double x, double y, double r);

  /** The shape as drawn: filled with a white edge that lifts it off lines below. */
  public List<Node> at(double x, double y, double r, Paint paint) {
    Outline outline = outline(x, y, r);
    return List.of(
        new Node.Stroke(outline, Paint.WHITE, 0.3 * r, Dash.NONE), new Node.Fill(outline, paint));
  }

  /** The shape with paper inside. */
  public List<Node> hollow(double x, double y, double r, Paint paint) {
    Outline outline = outline(x, y, r);
    return List.of(
        new Node.Fill(outline, Paint.WHITE), new Node.Stroke(outline, paint, 0.36 * r, Dash.NONE));
  }
}
