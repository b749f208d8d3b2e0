package dev.doorbell.experiments.results.figures.drawing;

import java.util.ArrayList;
import java.util.List;

/** A path of straight lines and cubic curves, in points, with y downwards. */
public record Outline(List<Segment> segments) {

  /** One step of a path. */
  public sealed interface Segment {
    /** Lifts the pen. */
    record Move(double x, double y) implements Segment {}

    record Line(double x, double y) implements Segment {}

    record Curve(double x1, double y1, double x2, double y2, double x, double y)
        implements Segment {}

    record Close() implements Segment {}
  }

  /** The control points of a quarter circle of radius 1 lie this far along its tangents. */
  private static final double QUARTER = 4 * (Math.sqrt(2) - 1) / 3;

  /** A line through points given as x0, y0, x1, y1, ... */
  public static Outline line(double... coordinates) {
    return new Outline(through(coordinates));
  }

  /** A closed shape through points given as x0, y0, x1, y1, ... */
  public static Outline polygon(double... coordinates) {
    List<Segment> segments = through(coordinates);
    segments.add(new Segment.Close());
    return new Outline(segments);
  }

  public static Outline rectangle(double left, double top, double width, double height) {
    return polygon(left, top, left + width, top, left + width, top + height, left, top + height);
  }

  public static Outline circle(double x, double y, double radius) {
    double k = QUARTER * radius;
    return new Outline(
        List.of(
            new Segment.Move(x + radius, y),
            new Segment.Curve(x + radius, y + k, x + k, y + radius, x, y + radius),
            new Segment.Curve(x - k, y + radius, x - radius, y + k, x - radius, y),
            new Segment.Curve(x - radius, y - k, x - k, y - radius, x, y - radius),
            new Segment.Curve(x + k, y - radius, x + radius, y - k, x + radius, y),
            new Segment.Close()));
  }

  private static List<Segment> through(double... coordinates) {
    if (coordinates.length < 4 || coordinates.length % 2 != 0) {
      throw new IllegalArgumentException("coordinates=" + coordinates.length);
    }
    List<Segment> segments = new ArrayList<>();
    segments.add(new Segment.Move(coordinates[0], coordinates[1]));
    for (int i = 2; i < coordinates.length; i += 2) {
      segments.add(new Segment.Line(coordinates[i], coordinates[i + 1]));
    }
    return segments;
  }
}
