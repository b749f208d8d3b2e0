package dev.doorbell.experiments.results.figures;

import dev.doorbell.experiments.config.condition.PointCondition;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.results.tables.RunSelection;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.StoredRun;
import dev.doorbell.experiments.run.SummaryRow;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Several runs as one run with one more axis, which distinguishes them in one figure. */
public final class JointRuns {
  public static final String AXIS = "run";

  private JointRuns() {}

  /**
   * All points of all runs. An axis that a run does not vary has in its points the value of the
   * setting.
   *
   * @param names what each run is called
   * @param only the part of each that is taken
   * @throws Unplottable when their numbers are of different bases
   */
  public static RunData of(List<StoredRun> runs, List<String> names, List<PointCondition> only)
      throws Unplottable {
    RunData first = runs.getFirst().data();
    for (StoredRun run : runs) {
      if (run.data().basis() != first.basis()) {
        throw Unplottable.because(
            run.data().runId(),
            "its numbers are %s, those of %s are %s, and one axis cannot have both"
                .formatted(run.data().basis().word(), first.runId(), first.basis().word()),
            "doorbell compare MEASURED MODEL --residuals holds one against the other");
      }
    }
    SequencedSet<String> axisNames = new LinkedHashSet<>();
    runs.forEach(run -> run.data().axes().forEach(axis -> axisNames.add(axis.name())));
    SequencedMap<String, Axis> axes = new LinkedHashMap<>();
    axes.put(AXIS, new Axis(AXIS, "", names.stream().<Value>map(Value.Text::new).toList()));
    List<SummaryRow> rows = new ArrayList<>();
    for (int i = 0; i < runs.size(); i++) {
      StoredRun run = runs.get(i);
      String name = names.get(i);
      Map<String, SequencedMap<String, Value>> settings =
          run.plan().points().stream().collect(Collectors.toMap(Point::id, Point::settings));
      run.data().axes().forEach(axis -> axes.merge(axis.name(), axis, JointRuns::joined));
      for (SummaryRow row : RunSelection.of(run, only).rows()) {
        rows.add(row(row, name, axisNames, settings.getOrDefault(row.pointId(), row.axes())));
      }
    }
    axisNames.forEach(
        axis ->
            axes.computeIfPresent(
                axis,
                (_, known) ->
                    joined(
                        known,
                        new Axis(
                            axis,
                            known.unit(),
                            rows.stream()
                                .map(row -> row.axes().get(axis))
                                .filter(value -> value != null)
                                .distinct()
                                .toList()))));
    return new RunData(
        joined(runs, RunData::runId, "+"),
        joined(runs, RunData::experiment, ", "),
        first.question(),
        joined(runs, RunData::configHash, "+"),
        runs.stream().map(run -> run.data().gitId()).distinct().count() == 1
            ? first.gitId()
            : Optional.empty(),
        first.basis(),
        first.seed(),
        List.copyOf(axes.values()),
        rows,
        first.figures(),
        first.contrasts(),
        List.of(),
        Map.of(),
        new RunData.Derived());
  }

  private static String joined(
      List<StoredRun> runs, Function<RunData, String> what, String separator) {
    return runs.stream()
        .map(run -> what.apply(run.data()))
        .distinct()
        .collect(Collectors.joining(separator));
  }

  private static Axis joined(Axis one, Axis other) {
    SequencedSet<Value> values = new LinkedHashSet<>(one.values());
    values.addAll(other.values());
    return new Axis(one.name(), one.unit(), List.copyOf(values));
  }

  private static SummaryRow row(
      SummaryRow row, String run, SequencedSet<String> axes, SequencedMap<String, Value> settings) {
    SequencedMap<String, Value> values = new LinkedHashMap<>();
    values.put(AXIS, new Value.Text(run));
    for (String axis : axes) {
      Value value = row.axes().getOrDefault(axis, settings.get(axis));
      if (value != null) {
        values.put(axis, value);
      }
    }
    return new SummaryRow(
        run + ": " + row.pointId(), values, row.metrics(), row.counters(), row.seed());
  }
}
