package dev.doorbell.experiments.cli.explore;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.adapter.Adapters;
import dev.doorbell.experiments.cli.command.AdapterOption;
import dev.doorbell.experiments.cli.command.CliCommand.CommonOptions;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.TextTable;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.workbench.explore.Explorer;
import dev.doorbell.experiments.workbench.explore.Laboratory;
import dev.doorbell.experiments.workbench.explore.Nic;
import dev.doorbell.experiments.workbench.explore.Nic.Remedy;
import dev.doorbell.experiments.workbench.explore.NicComparison;
import dev.doorbell.experiments.workbench.explore.NicComparison.Row;
import dev.doorbell.experiments.workbench.explore.NicComparison.Verdict;
import dev.doorbell.experiments.workbench.explore.Race;
import dev.doorbell.experiments.workbench.explore.Scenario;
import dev.doorbell.experiments.workbench.explore.Scenario.ScenarioException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine.Option;

/** {@code doorbell explore KERNEL --nic all}: a table, adapter by adapter. */
final class NicRunner {
  private final CommandContext context;
  private final CommonOptions common;
  private final Scenario scenario;
  private final NicComparison comparison;

  NicRunner(
      CommandContext context, CommonOptions common, Laboratory laboratory, Scenario scenario) {
    this.context = context;
    this.common = common;
    this.scenario = scenario;
    this.comparison = new NicComparison(laboratory, scenario);
  }

  /**
   * Explores the scenario on each of {@code nics}.
   *
   * @param seeds runs of each exploration
   * @param nanos of wall time for all of them
   */
  ExitCode run(List<Nic> nics, int seeds, long nanos) throws ScenarioException {
    List<Row> rows = new ArrayList<>();
    long end = System.nanoTime() + nanos;
    for (Nic nic : nics) {
      long left = Math.max(1, end - System.nanoTime());
      rows.add(comparison.explore(nic, seeds, left / (nics.size() - rows.size())));
    }
    if (common.json()) {
      Json.print(context, rows.stream().map(this::json).toList());
    } else {
      StringBuilder text = new StringBuilder(ExploreReport.head(scenario)).append('\n');
      text.append(table(rows));
      rows.forEach(row -> details(text, row));
      rows.stream()
          .flatMap(row -> row.refusal().stream())
          .map(Laboratory.Refusal::fix)
          .distinct()
          .forEach(fix -> text.append("\nfix of what is refused: %s%n".formatted(fix)));
      context.out().print(text);
    }
    if (rows.stream().anyMatch(row -> row.verdict() == Verdict.FOUND)) {
      return ExitCode.COUNTER_EXAMPLE;
    }
    return rows.stream().anyMatch(row -> row.verdict() == Verdict.UNFINISHED)
        ? ExitCode.PARTIAL
        : ExitCode.OK;
  }

  private static String table(List<Row> rows) {
    TextTable table =
        new TextTable().left("nic").left("verdict").right("found").left("fixed by").left("finding");
    for (Row row : rows) {
      table.row(
          List.of(
              row.nic().name(),
              row.refused().map(why -> "refused: " + why).orElse(word(row)),
              "%d of %d".formatted(row.report().found(), row.report().runs()),
              row.verdict() == Verdict.FOUND ? remedies(row) : "",
              row.finding().orElse("")));
    }
    return table.text();
  }

  /** Nothing found is clean where all of the kernel was covered, and no finding elsewhere. */
  private static String word(Row row) {
    return row.verdict() == Verdict.CLEAN && !row.report().coverage().isWhole()
        ? "no finding"
        : row.verdict().name().toLowerCase(Locale.ROOT);
  }

  private static String remedies(Row row) {
    return row.remedies().isEmpty()
        ? "nothing that was tried"
        : row.remedies().stream().map(Remedy::word).collect(Collectors.joining(", "));
  }

  private static void details(StringBuilder text, Row row) {
    Explorer.Report report = row.report();
    if (row.verdict() != Verdict.FOUND) {
      return;
    }
    if (report.races().isEmpty()) {
      text.append(
          "\n%s  FAILED  %s%n".formatted(row.nic().name(), row.finding().orElse("unknown")));
    } else {
      Race race = report.races().getFirst().what();
      text.append("\n%s  %s%n".formatted(row.nic().name(), race.kind().what()));
      ExploreReport.race(text, race);
    }
    row.schedule()
        .ifPresent(
            schedule ->
                text.append(
                    "  replay   --nic %s --schedule %s%n"
                        .formatted(row.nic().adapter(), schedule)));
    int more = report.races().size() + report.failures().size() - 1;
    if (more > 0) {
      text.append("  and %d more: --nic %s%n".formatted(more, row.nic().adapter()));
    }
  }

  private Map<String, Object> json(Row row) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("nic", row.nic().name());
    json.put("verdict", word(row));
    row.refused().ifPresent(why -> json.put("refused", why));
    json.put("fixed_by", row.remedies().stream().map(Remedy::word).toList());
    json.put("tried", row.tried().stream().map(Remedy::word).toList());
    json.putAll(ExploreReport.json(scenario.with(row.nic()), row.report()));
    return json;
  }

  static final class NicOptions {
    private static final String ALL = "all";

    @Option(
        names = "--nic",
        paramLabel = "NAME|FILE|all",
        split = ",",
        description =
            "What the HCAs promise (docs/adapters.md): cx7, cx7-ar, cx8-ooo-rw, cx8-ooo-all,"
                + " relaxed-pcie, no-atomics, split-visibility, efa, a file, several, or all:"
                + " a table, and which remedies help (default cx7).")
    private List<String> names = List.of();

    @Option(
        names = "--remedy",
        paramLabel = "NAME",
        split = ",",
        description =
            "Explore with a remedy: fence-bit, strict-key, read-flush, ordered-placement,"
                + " acknowledged, atomics.")
    private List<String> remedies = List.of();

    boolean isTable() {
      return names.size() > 1 || names.contains(ALL);
    }

    boolean isDefault() {
      return names.isEmpty() && remedies.isEmpty();
    }

    List<Nic> all() throws UsageException {
      List<Nic> all = new ArrayList<>();
      List<String> named = names.contains(ALL) ? Adapters.names() : names;
      for (String name : named) {
        all.add(fixed(AdapterOption.parse("--nic", name)));
      }
      return all.isEmpty() ? List.of(fixed(Adapter.DEFAULT)) : all;
    }

    private Nic fixed(Adapter adapter) throws UsageException {
      Nic nic = Nic.of(adapter);
      for (String word : remedies) {
        List<String> words = Arrays.stream(Remedy.values()).map(Remedy::word).toList();
        UsageException.requireWord("--remedy", word, words);
        nic = nic.with(Remedy.of(word).orElseThrow());
      }
      return nic;
    }
  }
}
