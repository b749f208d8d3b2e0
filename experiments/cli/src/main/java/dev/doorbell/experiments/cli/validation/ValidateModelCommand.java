package dev.doorbell.experiments.cli.validation;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.results.validation.ValidationPage;
import dev.doorbell.experiments.results.validation.ValidationTables;
import dev.doorbell.experiments.run.PointWorkers;
import dev.doorbell.experiments.run.RunDirectory.RunFiles;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.workbench.validation.BlindTest;
import dev.doorbell.experiments.workbench.validation.CheckedRow;
import dev.doorbell.experiments.workbench.validation.CheckedRow.State;
import dev.doorbell.experiments.workbench.validation.ConstantFit;
import dev.doorbell.experiments.workbench.validation.Independence;
import dev.doorbell.experiments.workbench.validation.LeaveOneOut;
import dev.doorbell.experiments.workbench.validation.ModelMachine;
import dev.doorbell.experiments.workbench.validation.Row;
import dev.doorbell.experiments.workbench.validation.RowFile;
import dev.doorbell.experiments.workbench.validation.StoredResults;
import dev.doorbell.experiments.workbench.validation.Validation;
import dev.doorbell.experiments.workbench.validation.ValidationResults;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.SequencedMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Runs published measurements in the model and says how far off it is, row by row.",
      "",
      "  doorbell validate-model                        all rows, on the machines they are of",
      "  doorbell validate-model h200-cx7 --fmt csv     one machine",
      "  doorbell validate-model mine.yaml              a topology of your own with 'rows: [P-IB]'",
      "  doorbell validate-model --rows mine.csv        rows of your own",
      "  doorbell validate-model h200-cx7 --leave-one-out",
      "  doorbell validate-model h200-cx7 --rank",
      "  doorbell validate-model h200-cx7 --fit 'koc.gda.*,koc.cqe' -o fitted",
      "  doorbell validate-model --blind new.csv",
      "  doorbell validate-model -o experiments/validation --fmt md > docs/validation.md",
      "",
      "A file of rows is CSV with the columns id, machine, what, setup, metric, value and unit"
          + " (us,",
      "ns, M/s or GB/s), and optionally config and bar. A row runs on each topology whose key"
          + " 'rows'",
      "names its machine. 'config' says what the model runs for the row; a row without one takes"
          + " the",
      "config of the row of that id in experiments/validation. 'bar' is the error in percent up to",
      "which the row is met (15 without). Lines that begin with # are comments.",
      "",
      "A config is the settings of one point and the metric to read:",
      "",
      "  kernel=put_price size=8 path=push.inline | post",
      "  kernel=put_rate size=8 threads=32 scope=warp batch=32 depth=1024 | rate",
      "  kernel=put_latency size=8 payload=host sq=host cq=host record=host | latency p99",
      "  kernel=put_price size=28 path=push.inline | post - kernel=put_price size=12"
          + " path=push.inline | post",
      "",
      "Settings are name=value, separated by blanks: kernel, every axis of doorbell list axes but",
      "placement, and samples, warmup and seed. All others have their defaults: doorbell describe",
      "AXIS. The metric is one of doorbell list metrics that the kernel measures, as doorbell run",
      "would; its median is compared, or what follows it: p99, min or max. Configs may be added"
          + " and",
      "subtracted (' + ', ' - ', with blanks around) and the sum divided by a number (' / 4' at"
          + " the",
      "end). Times are converted; other units must be the metric's own. 'none: REASON' in place of",
      "a config says why a row cannot be run.",
      "",
      "A row of a device's DMA, which no kernel posts, has another config: 'dma:' and words.",
      "",
      "  dma: transfer=read-rate bytes=64 window=16384 cache=cold",
      "",
      "transfer is read-latency, write-read-latency, read-rate or write-rate (ns, GB/s); bytes of"
          + " one",
      "transfer; window of host memory in which they lie (8192); offset of each behind a multiple"
          + " of",
      "64 (0); cache=warm or cold, iommu=off or on, device=N and memory=N of the topology's HCAs"
          + " and",
      "CPUs (0).",
      "",
      "--leave-one-out asks what the model says of a row without it: the constants whose sources"
          + " name",
      "the row are fitted again to all other rows of the machine, then the row runs. Constants"
          + " with",
      "the same source keep their proportions. A row whose constants no other row depends on is"
          + " shown",
      "without an error: only that row determines them. Columns of --fmt csv, which -o writes as",
      "left-out.csv: id, topology, constants, measured, fit, left_out, error.",
      "",
      "--rank changes each constant by 5 %% and runs the rows again. A predicted row whose"
          + " derivatives are a",
      "sum of those of rows before it, or that repeats one cited constant, follows from these: it"
          + " is not",
      "counted as predicted. -o writes follows.csv, which experiments/validation keeps.",
      "",
      "--fit ROWS takes ids, separated by commas; * at the end stands for all that begin so. The"
          + " constants",
      "whose sources name one of them are fitted to them all, by least squares of relative errors;"
          + " -o",
      "writes the topology with their values. Nobody writes a fitted value by hand.",
      "",
      "--blind FILE reads rows without their values and writes what the model says, with the date"
          + " and a",
      "hash, to FILE.predicted.csv; then it reads the values and compares. Rows without a value are"
          + " not",
      "compared. Predictions that are there already are kept and compared.",
      "",
      "Rows are reported as they end, on standard error; ^C prints what has ended.",
      "",
      "Exits with 3 when a row's config is wrong, with 1 when a point gives no result, with 6 when",
      "--strict is given and a row is outside its bar, and with 77 when no row could be run. Rows"
          + " that",
      "are right are shown in any case.",
      ""
    })
public final class ValidateModelCommand extends CliCommand {
  enum Format {
    TEXT,
    CSV,
    JSON,
    MD;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  @Parameters(
      paramLabel = "MACHINE",
      arity = "0..*",
      description =
          "Topologies by name or file, or machines of rows such as P-IB (default: all topologies"
              + " that stand for one).")
  private List<String> names = new ArrayList<>();

  @Option(
      names = "--rows",
      paramLabel = "FILE",
      description = "Rows of your own, in place of those that come along.")
  private @Nullable Path file;

  @Option(
      names = "--fmt",
      paramLabel = "FORMAT",
      description = "text, csv, json or md (default: ${DEFAULT-VALUE}).")
  private Format format = Format.TEXT;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "DIR",
      description = "Writes results.json and rows.csv too.")
  private @Nullable Path folder;

  @Option(
      names = "--leave-one-out",
      description =
          "Fit the constants again without each row that they were fitted to, and say how far off"
              + " that row is.")
  private boolean leaveOneOut;

  @Option(
      names = "--rank",
      description = "Find the predicted rows that follow from others, and count the rest.")
  private boolean rank;

  @Option(
      names = "--fit",
      paramLabel = "ROWS",
      split = ",",
      description = "Fit the constants that name these rows to them.")
  private List<String> fit = new ArrayList<>();

  @Option(
      names = "--blind",
      paramLabel = "FILE",
      description = "Predict rows before their values are read, then compare.")
  private @Nullable Path blind;

  @Option(names = "--strict", description = "Exits with 6 when a row is outside its bar.")
  private boolean strict;

  @Override
  public ExitCode run(CommandContext context) throws ProblemException {
    ExperimentRuntime runtime = context.runtime().get();
    List<ModelMachine> machines = machines();
    ValidationResults results;
    try {
      Validation validation =
          new Validation(runtime, PointWorkers.ofMachine(context.interruption()));
      if (blind != null) {
        results = blind(context, validation, machines, blind);
      } else {
        List<Row> rows = rows(machines);
        if (leaveOneOut) {
          return leaveOneOut(context, new LeaveOneOut(validation), machines, rows);
        }
        if (rank) {
          return rank(context, new Independence(validation), machines, rows);
        }
        if (!fit.isEmpty()) {
          return fit(context, new ConstantFit(validation), machines, rows);
        }
        results = ValidationResults.of(machines, validation.check(rows, machines, ended(context)));
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return ExitCode.INTERRUPTED;
    }
    context.out().print(text(runtime, results));
    if (folder != null) {
      RunFiles.writeAll(context.disk(), folder, files(results));
    }
    return context.interruption().requested() ? ExitCode.INTERRUPTED : code(results.rows());
  }

  private Consumer<CheckedRow> ended(CommandContext context) {
    return row -> {
      if (!common().quiet() && row.hasRun()) {
        context.err().println(ValidationTables.line(row));
        context.err().flush();
      }
    };
  }

  private ValidationResults blind(
      CommandContext context, Validation validation, List<ModelMachine> machines, Path file)
      throws ProblemException, InterruptedException {
    Path predicted = file.resolveSibling(file.getFileName() + ".predicted.csv");
    if (!Files.exists(predicted)) {
      String text =
          BlindTest.predict(
              validation,
              RowFile.loadBlind(file),
              machines,
              context.clock().instant(),
              ended(context));
      if (context.interruption().requested()) {
        throw new InterruptedException("before all rows were predicted");
      }
      RunFiles.write(context.disk(), predicted, text.getBytes(StandardCharsets.UTF_8));
    }
    String text;
    try {
      text = Files.readString(predicted);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    context.err().println("predicted " + BlindTest.date(text) + ", " + predicted);
    List<Row> rows = RowFile.loadUnsealed(file);
    return ValidationResults.of(
        machines, BlindTest.compare(predicted.toString(), text, rows, machines));
  }

  private ExitCode rank(
      CommandContext context,
      Independence independence,
      List<ModelMachine> machines,
      List<Row> rows)
      throws ProblemException, InterruptedException {
    StringBuilder follows = new StringBuilder("id,topology\n");
    for (ModelMachine machine : machines) {
      Independence.Result result =
          independence.of(machine, rows, keys -> context.err().println(keys));
      context.out().print(ValidationTables.text(result));
      result.follow().forEach(row -> follows.append(row.row().id() + "," + row.topology() + "\n"));
    }
    write(context, "follows.csv", follows.toString());
    return ExitCode.OK;
  }

  private ExitCode fit(
      CommandContext context, ConstantFit constants, List<ModelMachine> machines, List<Row> rows)
      throws ProblemException, InterruptedException {
    String ids = String.join(" ", fit);
    List<Row> named = rows.stream().filter(row -> ModelMachine.names(ids, row.id())).toList();
    if (named.isEmpty() || machines.size() != 1) {
      throw new UsageException(
          Problem.of(
                  "DB-U080",
                  null,
                  named.isEmpty()
                      ? "no row is named '%s'".formatted(String.join(",", fit))
                      : "--fit takes one machine, and there are " + machines.size())
              .fix("doorbell validate-model h200-cx7 --fit 'koc.gda.*'"));
    }
    ConstantFit.Result result = constants.of(machines.getFirst(), named);
    context.out().print(ValidationTables.text(result));
    String name = Path.of(machines.getFirst().topology()).getFileName().toString();
    write(context, name.endsWith(".yaml") ? name : name + ".yaml", result.text());
    return ExitCode.OK;
  }

  private void write(CommandContext context, String name, String text) throws RunException {
    if (folder != null) {
      RunFiles.write(context.disk(), folder.resolve(name), text.getBytes(StandardCharsets.UTF_8));
    }
  }

  private ExitCode leaveOneOut(
      CommandContext context, LeaveOneOut fit, List<ModelMachine> machines, List<Row> rows)
      throws ProblemException, InterruptedException {
    if (common().json() || (format != Format.TEXT && format != Format.CSV)) {
      throw new UsageException(
          Problem.of("DB-U080", null, "--leave-one-out prints text or CSV").fix("--fmt csv"));
    }
    List<LeaveOneOut.Result> results = new ArrayList<>();
    for (ModelMachine machine : machines) {
      results.add(fit.of(machine, rows));
      if (format == Format.TEXT) {
        context.out().print(ValidationTables.text(results.getLast()));
      }
    }
    String csv = ValidationTables.csv(results);
    if (format == Format.CSV) {
      context.out().print(csv);
    }
    write(context, "left-out.csv", csv);
    return results.stream().allMatch(result -> result.rows().isEmpty())
        ? ExitCode.WAIVED
        : ExitCode.OK;
  }

  private List<ModelMachine> machines() throws ProblemException {
    List<ModelMachine> all = ModelMachine.builtIn();
    if (names.isEmpty()) {
      return all.stream().filter(machine -> !machine.rows().isEmpty()).toList();
    }
    List<ModelMachine> machines = new ArrayList<>();
    for (String name : names) {
      List<ModelMachine> own =
          all.stream().filter(machine -> machine.rows().contains(name)).toList();
      machines.addAll(own.isEmpty() ? List.of(load(name, all)) : own);
    }
    return machines.stream().distinct().toList();
  }

  private static ModelMachine load(String name, List<ModelMachine> all) throws ProblemException {
    boolean isFile = name.endsWith(".yaml") || name.endsWith(".json");
    List<String> known = new ArrayList<>(all.stream().map(ModelMachine::topology).toList());
    if (!isFile && !known.contains(name)) {
      all.forEach(machine -> known.addAll(machine.rows()));
      throw new UsageException(
          Problem.of(
                  "DB-U004",
                  null,
                  "unknown machine '%s'%s".formatted(name, Nearest.suggestion(name, known)))
              .fix("doorbell list topologies, or give a file: " + name + ".yaml"));
    }
    ModelMachine machine = ModelMachine.load(name);
    if (machine.rows().isEmpty()) {
      throw new UsageException(
          Problem.of("DB-U080", name, "this topology stands for no machine of published rows")
              .fix("say for which it stands: rows: [P-IB] in a copy of it"));
    }
    return machine;
  }

  /** The rows to run: without a machine all of them, else those of the machine. */
  private List<Row> rows(List<ModelMachine> machines) throws ConfigException {
    List<Row> rows = file == null ? RowFile.builtIn() : RowFile.load(file);
    return names.isEmpty()
        ? rows
        : rows.stream()
            .filter(row -> machines.stream().anyMatch(one -> one.rows().contains(row.machine())))
            .toList();
  }

  private String text(ExperimentRuntime runtime, ValidationResults results) throws ConfigException {
    return switch (common().json() ? Format.JSON : format) {
      case TEXT -> ValidationTables.text(results);
      case CSV -> ValidationTables.csv(results);
      case JSON -> StoredResults.text(results);
      case MD -> new ValidationPage(results, ValidationPage.Background.of(runtime.names())).text();
    };
  }

  private static SequencedMap<String, byte[]> files(ValidationResults results) {
    SequencedMap<String, byte[]> files = new LinkedHashMap<>();
    files.put(StoredResults.FILE, StoredResults.text(results).getBytes(StandardCharsets.UTF_8));
    files.put("rows.csv", ValidationTables.csv(results).getBytes(StandardCharsets.UTF_8));
    return files;
  }

  private ExitCode code(List<CheckedRow> rows) {
    if (rows.stream().anyMatch(row -> row.state() == State.WRONG_CONFIG)) {
      return ExitCode.CONFIG;
    }
    if (rows.stream().anyMatch(row -> row.state() == State.FAILED)) {
      return ExitCode.FAILED;
    }
    if (rows.stream().noneMatch(CheckedRow::hasRun)) {
      return ExitCode.WAIVED;
    }
    return strict && rows.stream().anyMatch(CheckedRow::isOutside) ? ExitCode.CLAIM : ExitCode.OK;
  }
}
