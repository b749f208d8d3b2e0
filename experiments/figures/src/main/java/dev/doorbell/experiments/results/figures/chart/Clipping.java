package dev.doorbell.experiments.results.figures.chart;

import dev.doorbell.experiments.results.figures.drawing.Node;
import dev.doorbell.experiments.results.figures.drawing.Outline;
import dev.doorbell.experiments.results.figures.drawing.Paint;
import dev.doorbell.experiments.results.figures.drawing.PlotArea;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;

/** Cuts what does not fit between the ends of the axes. */
final class Clipping {
  /** Half the width of the arrow that says that a whisker goes on, and its height, points. */
  private static final double ARROW = 1.9;

  private static final double SLACK = 0.01;

  private Clipping() {}

  static boolean inside(PlotArea area, double x, double y) {
    return x >= area.left() - SLACK
        && x <= area.right() + SLACK
        && y >= area.top() - SLACK
        && y <= area.bottom() + SLACK;
  }

  static double height(PlotArea area, double y) {
    return Math.clamp(y, area.top(), area.bottom());
  }

  /** Arrows at the ends of a whisker that are cut; both heights are those on the page, uncut. */
  static List<Node> arrows(PlotArea area, double x, double low, double high, Paint paint) {
    List<Node> arrows = new ArrayList<>();
    if (high < area.top() - SLACK) {
      arrows.add(arrow(x, area.top(), 2 * ARROW, paint));
    }
    if (low > area.bottom() + SLACK) {
      arrows.add(arrow(x, area.bottom(), -2 * ARROW, paint));
    }
    return arrows;
  }

  private static Node arrow(double x, double tip, double height, Paint paint) {
    return new Node.Fill(
        Outline.polygon(x, tip, x + ARROW, tip + height, x - ARROW, tip + height), paint);
  }

  static List<Outline> path(PlotArea area, List<double[]> points) {
    List<Outline> parts = new ArrayList<>();
    DoubleStream.Builder part = DoubleStream.builder();
    double @Nullable [] end = null;
    for (int i = 1; i < points.size(); i++) {
      double[] piece = piece(area, points.get(i - 1), points.get(i));
      if (piece.length == 0) {
        continue;
      }
      if (end == null || end[0] != piece[0] || end[1] != piece[1]) {
        if (end != null) {
          parts.add(Outline.line(part.build().toArray()));
          part = DoubleStream.builder();
        }
        part.add(piece[0]).add(piece[1]);
      }
      part.add(piece[2]).add(piece[3]);
      end = new double[] {piece[2], piece[3]};
    }
    if (end != null) {
      parts.add(Outline.line(part.build().toArray()));
    }
    return parts;
  }

  /**
   * The part of a line within a panel as x0, y0, x1, y1, or nothing: Y.-D. Liang and B. A. Barsky,
   * "A New Concept and Method for Line Clipping", ACM Transactions on Graphics 3(1), 1984.
   */
  private static double[] piece(PlotArea area, double[] from, double[] to) {
    if (inside(area, from[0], from[1]) && inside(area, to[0], to[1])) {
      return new double[] {from[0], from[1], to[0], to[1]};
    }
    double dx = to[0] - from[0];
    double dy = to[1] - from[1];
    double[] direction = {-dx, dx, -dy, dy};
    double[] room = {
      from[0] - area.left(), area.right() - from[0], from[1] - area.top(), area.bottom() - from[1]
    };
    double first = 0;
    double last = 1;
    for (int edge = 0; edge < 4; edge++) {
      if (direction[edge] == 0) {
        if (room[edge] < 0) {
          return new double[0];
        }
      } else {
        double at = room[edge] / direction[edge];
        if (direction[edge] < 0) {
          first = Math.max(first, at);
        } else {
          last = Math.min(last, at);
        }
      }
    }
    return first > last
        ? new double[0]
        : new double[] {
          from[0] + first * dx, from[1] + first * dy, from[0] + last * dx, from[1] + last * dy
        };
  }
}
