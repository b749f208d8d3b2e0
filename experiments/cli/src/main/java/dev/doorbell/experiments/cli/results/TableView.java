package dev.doorbell.experiments.cli.results;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.config.condition.PointCondition;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.results.tables.RunSelection;
import dev.doorbell.experiments.results.tables.RunTables;
import dev.doorbell.experiments.results.validation.Credit;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.StoredRun;
import dev.doorbell.experiments.workbench.validation.StoredResults;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

final class TableView {
  @Option(
      names = "--metric",
      paramLabel = "NAME",
      split = ",",
      description = "These metrics and counters alone, in this order.")
  private List<String> metrics = new ArrayList<>();

  @Option(
      names = "--columns",
      paramLabel = "NAME",
      split = ",",
      description =
          "Of each metric: p50, ci, n, p99, min, max, form, vs; credit: tests by published rows.")
  private List<RunTables.Statistic> columns = new ArrayList<>();

  @Option(
      names = "--only",
      paramLabel = "CONDITIONS",
      description = "These points alone, such as 'size<=4K,path=pull'.")
  private @Nullable String only;

  @Option(
      names = "--sort",
      paramLabel = "NAME",
      description = "By this axis, metric or counter; the greatest first with a -.")
  private @Nullable String sort;

  RunTables.Look look(StoredRun stored) {
    return new RunTables.Look(
        columns.isEmpty() ? RunTables.USUAL : List.copyOf(columns),
        columns.contains(RunTables.Statistic.CREDIT)
            ? Credit.byPoint(StoredResults.builtIn(), stored.plan().points())
            : Map.of());
  }

  RunData of(StoredRun run) throws ProblemException {
    RunData data =
        RunSelection.of(run, PointCondition.ofOption(only, run.plan().config().settings()));
    if (data.rows().isEmpty() && !run.data().rows().isEmpty()) {
      throw UsageException.wrong(
          "--only " + only, "no point of the run is like that", "it has " + values(run.data()));
    }
    SequencedSet<String> sampled = new LinkedHashSet<>();
    SequencedSet<String> all = new LinkedHashSet<>();
    data.rows().forEach(row -> sampled.addAll(row.metrics().keySet()));
    all.addAll(sampled);
    data.rows().forEach(row -> all.addAll(row.counters().keySet()));
    for (String metric : metrics) {
      known("--metric", metric, all);
    }
    RunData chosen = RunSelection.metrics(data, metrics);
    String by = sort;
    if (by == null) {
      return chosen;
    }
    boolean falling = by.startsWith("-");
    String name = falling ? by.substring(1) : by;
    data.axes().forEach(axis -> all.add(axis.name()));
    known("--sort", name, all);
    return RunSelection.sorted(chosen, data, name, falling);
  }

  private static void known(String option, String name, SequencedSet<String> names)
      throws UsageException {
    if (!names.contains(name)) {
      throw UsageException.wrong(
          option,
          "the run has no '%s'%s".formatted(name, Nearest.suggestion(name, names)),
          "it has " + String.join(", ", names));
    }
  }

  private static String values(RunData run) {
    return run.axes().stream()
        .filter(axis -> axis.values().size() > 1)
        .map(TableView::values)
        .collect(Collectors.joining("; "));
  }

  private static String values(Axis axis) {
    return axis.name()
        + "="
        + axis.values().stream().map(Value::text).collect(Collectors.joining("|"));
  }
}
