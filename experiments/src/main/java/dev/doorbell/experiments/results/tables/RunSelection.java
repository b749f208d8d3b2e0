package dev.doorbell.experiments.results.tables;

import dev.doorbell.experiments.config.condition.PointCondition;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.StoredRun;
import dev.doorbell.experiments.run.SummaryRow;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** A part of a run, as if nothing else had been run. */
public final class RunSelection {
  private RunSelection() {}

  /** The points for which all conditions hold, and of each axis the values that they have. */
  public static RunData of(StoredRun run, List<PointCondition> conditions) {
    return of(run.data(), run.plan().points(), conditions);
  }

  /**
   * The same of a run's data.
   *
   * @param plan the points of the run
   */
  public static RunData of(RunData run, List<Point> plan, List<PointCondition> conditions) {
    if (conditions.isEmpty()) {
      return run;
    }
    Map<String, Point> points =
        plan.stream().collect(Collectors.toMap(Point::id, Function.identity()));
    return keep(
        run,
        run.rows().stream()
            .filter(
                row -> {
                  Point point = points.get(row.pointId());
                  return point != null
                      && conditions.stream().allMatch(c -> c.holds(point.settings()));
                })
            .toList());
  }

  private static RunData keep(RunData data, List<SummaryRow> rows) {
    List<Axis> axes =
        data.axes().stream()
            .map(
                axis -> {
                  List<Value> values =
                      axis.values().stream()
                          .filter(
                              value ->
                                  rows.stream()
                                      .anyMatch(row -> value.equals(row.axes().get(axis.name()))))
                          .toList();
                  return new Axis(axis.name(), axis.unit(), values);
                })
            .toList();
    return data.with(axes, rows);
  }
}
