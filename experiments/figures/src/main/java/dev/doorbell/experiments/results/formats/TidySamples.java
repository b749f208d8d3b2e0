package dev.doorbell.experiments.results.formats;

import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.Quantity;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.results.print.Csv;
import dev.doorbell.experiments.run.MetricRow;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.SummaryRow;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.SequencedMap;
import java.util.SequencedSet;

/**
 * All samples of runs in one table as statistics packages like it (H. Wickham, "Tidy Data", Journal
 * of Statistical Software 59(10), 2014): one row for each sample, one column for each axis. Names
 * are in snake case and have no units; these stand in a file of their own.
 */
public final class TidySamples {
  private static final String COUNTED = "0";

  private TidySamples() {}

  /**
   * The table: {@code run}, {@code basis}, {@code point}, the axes, {@code metric}, {@code sample}
   * and {@code value}. Samples count from 1 in the order in which they were taken; what was counted
   * has one row, sample 0. An axis that a run does not have is empty in its rows.
   */
  public static String csv(List<RunData> runs) {
    SequencedSet<String> axes = new LinkedHashSet<>();
    runs.forEach(run -> run.axes().forEach(axis -> axes.add(axis.name())));
    List<Object> header = new ArrayList<>(List.of("run", "basis", "point"));
    axes.forEach(axis -> header.add(snake(axis)));
    header.addAll(List.of("metric", "sample", "value"));
    List<List<Object>> rows = new ArrayList<>(List.of(header));
    for (RunData run : runs) {
      for (SummaryRow row : run.rows()) {
        List<Object> start =
            new ArrayList<>(List.of(run.runId(), run.basis().word(), row.pointId()));
        for (String axis : axes) {
          Value value = row.axes().get(axis);
          start.add(value == null ? "" : value.text());
        }
        for (MetricRow metric : row.metrics().values()) {
          Samples samples = metric.samples();
          for (int i = 0; i < samples.size(); i++) {
            rows.add(row(start, samples.metric(), Integer.toString(i + 1), samples.value(i)));
          }
        }
        row.counters()
            .forEach((name, counter) -> rows.add(row(start, name, COUNTED, counter.value())));
      }
    }
    return Csv.text(rows);
  }

  private static List<Object> row(List<Object> start, String metric, String sample, double value) {
    List<Object> row = new ArrayList<>(start);
    row.addAll(List.of(snake(metric), sample, value));
    return row;
  }

  /** The units of axes and metrics by their names in the table; what has none is left out. */
  public static SequencedMap<String, Object> units(List<RunData> runs) {
    SequencedMap<String, String> axes = new LinkedHashMap<>();
    SequencedMap<String, String> metrics = new LinkedHashMap<>();
    for (RunData run : runs) {
      for (Axis axis : run.axes()) {
        put(axes, axis.name(), axis.unit());
      }
      for (SummaryRow row : run.rows()) {
        for (MetricRow metric : row.metrics().values()) {
          put(metrics, metric.samples().metric(), metric.samples().unit());
        }
        for (var counter : row.counters().entrySet()) {
          Quantity quantity = counter.getValue();
          put(metrics, counter.getKey(), quantity.unit());
        }
      }
    }
    SequencedMap<String, Object> units = new LinkedHashMap<>();
    units.put("axes", axes);
    units.put("metrics", metrics);
    return units;
  }

  private static void put(SequencedMap<String, String> units, String name, String unit) {
    if (!unit.isEmpty()) {
      units.putIfAbsent(snake(name), unit);
    }
  }

  /** A name in lower-case letters, digits and underscores. */
  static String snake(String name) {
    return name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "_").replaceAll("^_|_$", "");
  }
}
