package dev.doorbell.experiments.results.tables;

import dev.doorbell.experiments.config.condition.PointCondition;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.Quantity;
import dev.doorbell.experiments.run.MetricRow;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.StoredRun;
import dev.doorbell.experiments.run.SummaryFiles;
import dev.doorbell.experiments.run.SummaryRow;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A part of a run, as if nothing else had been run. */
public final class RunSelection {
  private RunSelection() {}

  /** The points for which all conditions hold, and of each axis the values that they have. */
  public static RunData of(StoredRun run, List<PointCondition> conditions) {
    return of(run.data(), run.plan().points(), conditions);
  }

  /** The part of a run's data; {@code plan} are the points of the run. */
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

  /**
   * Some metrics and counters of each point, in this order.
   *
   * @param names all where empty
   */
  public static RunData metrics(RunData run, List<String> names) {
    if (names.isEmpty()) {
      return run;
    }
    return run.with(
        run.axes(),
        run.rows().stream()
            .map(
                row ->
                    new SummaryRow(
                        row.pointId(),
                        row.axes(),
                        part(row.metrics(), names),
                        part(row.counters(), names),
                        row.seed()))
            .toList());
  }

  private static <T> SequencedMap<String, T> part(SequencedMap<String, T> all, List<String> names) {
    SequencedMap<String, T> part = new LinkedHashMap<>();
    for (String name : names) {
      T one = all.get(name);
      if (one != null) {
        part.put(name, one);
      }
    }
    return part;
  }

  /**
   * A part of a run in the order of an axis, a metric's median or a counter; points without it
   * last.
   *
   * @param whole the run with all its metrics
   */
  public static RunData sorted(RunData part, RunData whole, String name, boolean falling) {
    Map<String, SummaryRow> rows =
        whole.rows().stream().collect(Collectors.toMap(SummaryRow::pointId, Function.identity()));
    Comparator<Double> order = falling ? Comparator.reverseOrder() : Comparator.naturalOrder();
    return part.with(
        part.axes(),
        part.rows().stream()
            .sorted(
                Comparator.comparing(
                    row -> key(whole, rows.getOrDefault(row.pointId(), row), name),
                    Comparator.nullsLast(order)))
            .toList());
  }

  private static @Nullable Double key(RunData run, SummaryRow row, String name) {
    MetricRow metric = row.metrics().get(name);
    if (metric != null) {
      return metric.samples().size() == 0 ? null : SummaryFiles.summary(row, metric).median();
    }
    Quantity counter = row.counters().get(name);
    if (counter != null) {
      return counter.value();
    }
    Value value = row.axes().get(name);
    return switch (value) {
      case null -> null;
      case Value.Whole(long whole) -> (double) whole;
      case Value.Real(double real) -> real;
      case Value.Text _, Value.Flag _ ->
          run.axes().stream()
              .filter(axis -> axis.name().equals(name))
              .findFirst()
              .map(axis -> (double) axis.values().indexOf(value))
              .orElse(null);
    };
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
