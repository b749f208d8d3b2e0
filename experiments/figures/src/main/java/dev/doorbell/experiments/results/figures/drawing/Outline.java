package dev.doorbell.experiments.results.figures.drawing;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A path of straight lines and cubic curves, in points, with y downwards. */
public record Outline(List<Segment> segments) {

  /**
   * One step of a path.
   *
   * @param command as SVG has it: M lifts the pen, L draws a line, C a curve, Z closes the shape
   * @param places x and y of the end, behind those of the two control points of a curve
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Segment(char command, double... places) {}

  /** The control points of a quarter circle of radius 1 lie this far along its tangents. */
  private static final double QUARTER = 4 * (Math.sqrt(2) - 1) / 3;

  /** A line through points given as x0, y0, x1, y1, ... */
  public static Outline line(double... coordinates) {
    return new Outline(through(coordinates));
  }

  /** A closed shape through points given as x0, y0, x1, y1, ... */
  public static Outline polygon(double... coordinates) {
    List<Segment> segments = through(coordinates);
    segments.add(new Segment('Z'));
    return new Outline(segments);
  }

  public static Outline rectangle(double left, double top, double width, double height) {
    return polygon(left, top, left + width, top, left + width, top + height, left, top + height);
  }

  public static Outline circle(double x, double y, double radius) {
    double k = QUARTER * radius;
    return new Outline(
        List.of(
            new Segment('M', x + radius, y),
            new Segment('C', x + radius, y + k, x + k, y + radius, x, y + radius),
            new Segment('C', x - k, y + radius, x - radius, y + k, x - radius, y),
            new Segment('C', x - radius, y - k, x - k, y - radius, x, y - radius),
            new Segment('C', x + k, y - radius, x + radius, y - k, x + radius, y),
            new Segment('Z')));
  }

  /** The path in another size. */
  Outline scaled(double factor) {
    return new Outline(
        segments.stream()
            .map(each -> new Segment(each.command, scaled(each.places, factor)))
            .toList());
  }

  private static double[] scaled(double[] places, double factor) {
    return Arrays.stream(places).map(place -> place * factor).toArray();
  }

  private static List<Segment> through(double... coordinates) {
    if (coordinates.length < 4 || coordinates.length % 2 != 0) {
      throw new IllegalArgumentException("coordinates=" + coordinates.length);
    }
    List<Segment> segments = new ArrayList<>();
    for (int i = 0; i < coordinates.length; i += 2) {
      segments.add(new Segment(i == 0 ? 'M' : 'L', coordinates[i], coordinates[i + 1]));
    }
    return segments;
  }
}
