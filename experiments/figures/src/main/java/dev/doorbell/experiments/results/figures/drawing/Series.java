package dev.doorbell.experiments.results.figures.drawing;

import dev.doorbell.experiments.results.figures.drawing.Node.Dash;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Data that a plotting package draws by itself, and how they look.
 *
 * @param name identifies the series; empty where it has no colour of its own
 * @param width of a line, points; of a bar, in units of its axis
 * @param marker null for none
 * @param offset by which it lies beside its place, points; not 0 where it would cover another
 */
public record Series(
    String name,
    Shape shape,
    Data data,
    Paint paint,
    double width,
    Dash dash,
    @Nullable Marker marker,
    double offset) {

  /** A series at its place. */
  public Series(
      String name,
      Shape shape,
      Data data,
      Paint paint,
      double width,
      Dash dash,
      @Nullable Marker marker) {
    this(name, shape, data, paint, width, dash, marker, 0);
  }

  /** Shapes that data become. */
  public enum Shape {
    /** Points joined by lines. */
    LINE,
    /** Level from each point to the next. */
    STEPS,
    /** Markers alone. */
    MARKERS,
    /** Upright bars from zero, with a marker above each. */
    BARS,
    /** Bars from zero to the left or right. */
    BARS_ACROSS,
    /** A polygon filled. */
    AREA
  }

  /** Sources of values. */
  public sealed interface Data {
    /**
     * Columns of one of the drawing's tables.
     *
     * @param x column of the abscissa
     * @param shift added to each abscissa
     * @param y column of the ordinate
     * @param interval whether columns {@code y-lo} and {@code y-hi} bound the ordinate
     */
    record Columns(String table, String x, double shift, String y, boolean interval)
        implements Data {}

    record Points(List<double[]> points) implements Data {
      public Points {
        points = List.copyOf(points);
      }
    }
  }

  /** A line through points that no table has. */
  public static Series line(String name, Paint paint, double width, Dash dash, double[]... points) {
    return new Series(name, Shape.LINE, new Data.Points(List.of(points)), paint, width, dash, null);
  }

  /** A filled polygon. */
  public static Series area(Paint paint, double[]... points) {
    return new Series("", Shape.AREA, new Data.Points(List.of(points)), paint, 0, Dash.NONE, null);
  }
}
