package dev.doorbell.experiments.cli;

import dev.doorbell.experiments.config.Axis;
import dev.doorbell.experiments.config.Contrast;
import dev.doorbell.experiments.config.Value;
import dev.doorbell.experiments.figures.Crossovers;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.SummaryRow;
import dev.doorbell.experiments.stats.Crossover;
import dev.doorbell.experiments.stats.Crossover.Lead;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * One pair of lines at one place.
 *
 * @param by value of the contrast's {@code by} axis; empty when it has none
 * @param others values of axes that vary beside those of the contrast: each combination is a
 *     comparison of its own
 */
record Crossings(
    Contrast contrast, String by, SequencedMap<String, Value> others, Crossover crossover) {

  /** Every pair of the config for which both lines have two points or more in common. */
  static List<Crossings> of(RunData data) {
    List<Crossings> found = new ArrayList<>();
    for (Contrast contrast : data.contrasts()) {
      slices(data, contrast)
          .forEach(
              (others, slice) -> {
                for (String by : values(data, contrast.by())) {
                  Crossover crossover = Crossovers.of(slice, contrast, by);
                  if (crossover.compared() > 1) {
                    found.add(new Crossings(contrast, by, others, crossover));
                  }
                }
              });
    }
    return found;
  }

  /** The run in parts, in each of which only the axes of the contrast vary. */
  private static Map<SequencedMap<String, Value>, RunData> slices(RunData data, Contrast contrast) {
    List<String> of = List.of(contrast.axis(), contrast.over(), contrast.by());
    List<String> others =
        data.axes().stream()
            .filter(axis -> axis.values().size() > 1 && !of.contains(axis.name()))
            .map(Axis::name)
            .toList();
    Map<SequencedMap<String, Value>, List<SummaryRow>> rows = new LinkedHashMap<>();
    for (SummaryRow row : data.rows()) {
      SequencedMap<String, Value> values = new LinkedHashMap<>(row.axes());
      values.keySet().retainAll(others);
      rows.computeIfAbsent(values, _ -> new ArrayList<>()).add(row);
    }
    Map<SequencedMap<String, Value>, RunData> slices = new LinkedHashMap<>();
    rows.forEach((values, slice) -> slices.put(values, data.withRows(slice)));
    return slices;
  }

  private static List<String> values(RunData data, String axisName) {
    return axisName.isEmpty()
        ? List.of("")
        : data.axes().stream()
            .filter(axis -> axis.name().equals(axisName))
            .flatMap(axis -> axis.values().stream())
            .map(Value::text)
            .toList();
  }

  /** The name of the line that is lower; empty where they coincide. */
  String name(Lead lead) {
    return switch (lead) {
      case A -> contrast.first();
      case B -> contrast.second();
      case NEITHER -> "";
    };
  }
}
