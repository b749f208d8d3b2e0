package dev.doorbell.experiments.cli.kernel;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.TextTable;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.cli.explore.ExploredKernel;
import dev.doorbell.experiments.config.kernel.KernelDescriptor;
import dev.doorbell.experiments.kernels.UserKernel;
import dev.doorbell.experiments.topology.TopologyException;
import dev.doorbell.experiments.topology.TopologyFile;
import dev.doorbell.experiments.workbench.diff.KernelComparer;
import dev.doorbell.experiments.workbench.diff.KernelComparer.KernelTiming;
import dev.doorbell.experiments.workbench.explore.Explorer;
import dev.doorbell.experiments.workbench.explore.Laboratory;
import dev.doorbell.experiments.workbench.explore.Laboratory.Outcome;
import dev.doorbell.experiments.workbench.explore.Scenario;
import dev.doorbell.experiments.workbench.explore.Scenario.ScenarioException;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code doorbell kernel table FOLDER...}. */
@CommandLine.Command(
    header = {
      "Tries the kernels of other libraries in folders, and prints a row for each.",
      "",
      "  doorbell kernel table kernels                      runs, exploration, virtual time",
      "  doorbell kernel table kernels --runs 10 --seeds 50 --fmt md",
      "",
      "A row says how many of --runs runs with drawn parameters verified everything, how many of",
      "--seeds explored runs had findings, what one such run executed, and what an operation takes",
      "in virtual time: the medians of the kernel's metrics my_issue and my_done, else of its"
          + " samples",
      "or stamps. Exit code 1 when a run was wrong.",
      ""
    })
final class KernelTableCommand extends CliCommand {
  /** A row. */
  record Row(
      String kernel,
      String library,
      String launch,
      String verified,
      String findings,
      long instructions,
      long fences,
      String issue,
      String done,
      List<String> problems) {}

  @Parameters(
      paramLabel = "FOLDER|FILE.kernel.yaml",
      arity = "1..*",
      description = "Folders with descriptors, or descriptors.")
  private List<Path> places = new ArrayList<>();

  @Option(names = "--runs", paramLabel = "N", description = "Verified runs of each (default: 6).")
  private int runs = 6;

  @Option(names = "--seeds", paramLabel = "N", description = "Explored runs (default: 20).")
  private int seeds = 20;

  @Option(
      names = "--budget",
      paramLabel = "TIME",
      description = "Wall time of a kernel's exploration at most (default: 60s).")
  private String budget = "60s";

  @Option(
      names = "--machine",
      paramLabel = "TOPOLOGY",
      description = "Whose prices the virtual time has (default: h200-cx7).")
  private String machine = "h200-cx7";

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      description = "Stop a run's kernel then (default: 60s).")
  private String timeout = "60s";

  @Option(names = "--fmt", paramLabel = "FORMAT", description = "text or md (default: text).")
  private String format = "text";

  @Option(names = "--seed", paramLabel = "N", description = "Draws parameters (default: 1).")
  private long seed = 1;

  @Override
  public ExitCode run(CommandContext context) throws UsageException {
    if (runs < 1 || seeds < 1 || !List.of("text", "md").contains(format)) {
      throw new UsageException(
          Problem.of(
              "DB-U003", "kernel table", "--runs and --seeds are at least 1, --fmt text or md"));
    }
    Topology topology = topology();
    List<Row> rows = new ArrayList<>();
    for (Path file : descriptors()) {
      if (context.interruption().requested()) {
        return ExitCode.INTERRUPTED;
      }
      UserKernel kernel = KernelFiles.described(file);
      if (kernel.descriptor().api().isPresent()) {
        rows.add(row(context, kernel, topology));
      }
    }
    if (rows.isEmpty()) {
      throw new UsageException(
          Problem.of("DB-K001", places.toString(), "no descriptor with an api lies there"));
    }
    if (common().json()) {
      Json.print(context, rows);
    } else {
      context.terminal().out().print(format.equals("md") ? markdown(rows) : text(rows));
    }
    return rows.stream().allMatch(row -> row.problems.isEmpty()) ? ExitCode.OK : ExitCode.FAILED;
  }

  private Topology topology() throws UsageException {
    try {
      return TopologyFile.load(machine);
    } catch (TopologyException e) {
      throw new UsageException(e.problems().getFirst());
    }
  }

  private List<Path> descriptors() throws UsageException {
    List<Path> found = new ArrayList<>();
    for (Path place : places) {
      if (!Files.isDirectory(place)) {
        found.add(place);
        continue;
      }
      try (Stream<Path> files = Files.walk(place)) {
        files
            .filter(file -> file.toString().endsWith(KernelDescriptor.ENDING))
            .sorted()
            .forEach(found::add);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return found;
  }

  private Row row(CommandContext context, UserKernel kernel, Topology topology)
      throws UsageException {
    KernelWorkbench workbench = KernelWorkbench.find();
    List<String> problems = new ArrayList<>();
    int right = 0;
    for (int i = 0; i < runs && !context.interruption().requested(); i++) {
      List<String> differences =
          KernelComparer.find()
              .runAlone(
                  new KernelComparer.Request(
                      kernel.name(),
                      Optional.of(kernel),
                      "vm",
                      seed,
                      i,
                      1,
                      KernelRunOptions.nanos(timeout),
                      context.interruption()::requested,
                      _ -> {}))
              .differences();
      if (differences.isEmpty()) {
        right++;
      } else {
        problems.add("run %d: %s".formatted(i, differences.getFirst()));
      }
    }
    KernelTiming timing = KernelComparer.find().time(kernel, topology);
    timing.failure().ifPresent(what -> problems.add("virtual time: " + what));
    KernelDescriptor.Launch launch = kernel.descriptor().launch();
    Explored explored = explore(kernel, problems);
    return new Row(
        kernel.name(),
        workbench.library(kernel).orElse(""),
        "%s, %dx%d"
            .formatted(
                launch.ranks().name().toLowerCase(Locale.ROOT),
                launch.blocks(),
                Math.max(1, launch.threads())),
        "%d/%d".formatted(right, runs),
        explored.findings,
        explored.instructions,
        explored.fences,
        micros(timing.issueNanos()),
        micros(timing.doneNanos()),
        List.copyOf(problems));
  }

  private record Explored(String findings, long instructions, long fences) {}

  private Explored explore(UserKernel kernel, List<String> problems) throws UsageException {
    Laboratory laboratory = Laboratory.find();
    Scenario scenario = ExploredKernel.scenario(kernel);
    long nanos = KernelRunOptions.nanos(budget);
    try {
      Explorer.Report report = new Explorer(laboratory, scenario).explore(seeds, nanos);
      report.failures().forEach(failure -> problems.add("explored: " + failure.what().text()));
      Outcome one = laboratory.run(scenario, 1, Laboratory.Extent.of(nanos));
      return new Explored(
          "%d in %d/%d"
              .formatted(
                  report.races().size() + report.failures().size(), report.found(), report.runs()),
          one.instructions(),
          one.fences().stream().mapToLong(Outcome.Fence::count).sum());
    } catch (ScenarioException e) {
      problems.add("explored: " + e.getMessage());
      return new Explored("-", 0, 0);
    }
  }

  private static String micros(OptionalDouble nanos) {
    return nanos.isEmpty() ? "-" : String.format(Locale.ROOT, "%.2f", nanos.getAsDouble() / 1e3);
  }

  private static List<String> cells(Row row) {
    return List.of(
        row.kernel,
        row.launch,
        row.verified,
        row.findings,
        Long.toString(row.instructions),
        Long.toString(row.fences),
        row.issue,
        row.done);
  }

  private static String text(List<Row> rows) {
    TextTable table =
        new TextTable()
            .left("kernel")
            .left("ranks, grid")
            .right("right")
            .right("findings")
            .right("instr.")
            .right("fences")
            .right("issue")
            .right("done us");
    StringBuilder text = new StringBuilder();
    text.append(String.join(", ", rows.stream().map(Row::library).distinct().sorted().toList()));
    rows.forEach(row -> table.row(cells(row)));
    text.append(System.lineSeparator()).append(table.text());
    rows.forEach(
        row -> row.problems.forEach(what -> text.append("%s: %s%n".formatted(row.kernel, what))));
    return text.toString();
  }

  private static String markdown(List<Row> rows) {
    StringBuilder text =
        new StringBuilder(
            """
            | library | kernel | ranks, grid | verified | explorer: findings in runs | instructions | fences | issue us | done us |
            | --- | --- | --- | --- | --- | --- | --- | --- | --- |
            """);
    for (Row row : rows) {
      text.append("| ").append(row.library).append(" | `").append(row.kernel).append("` | ");
      text.append(String.join(" | ", cells(row).subList(1, cells(row).size()))).append(" |\n");
    }
    rows.forEach(
        row -> row.problems.forEach(what -> text.append("%n%s: %s%n".formatted(row.kernel, what))));
    return text.toString();
  }
}
