package dev.doorbell.experiments.results.figures;

import java.util.List;
import java.util.Set;

/**
 * Published rows that test or measured a run's points.
 *
 * @param untested ids of modelled points with a metric, as {@link #key} has them, that no row tests
 * @param rows that measured the same as a point
 */
public record Credits(Set<String> untested, List<Row> rows) {
  /** Nothing is known. */
  public static final Credits NONE = new Credits(Set.of(), List.of());

  /**
   * A measurement.
   *
   * @param point id of the point that is set up alike
   * @param value in the metric's unit
   */
  public record Row(String point, String metric, double value) {}

  public static String key(String point, String metric) {
    return point + " " + metric;
  }
}
