package dev.doorbell.experiments.cli.results;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.results.formats.TidySamples;
import dev.doorbell.experiments.results.print.Screen;
import dev.doorbell.experiments.results.print.Table;
import dev.doorbell.experiments.results.tables.ResultTable;
import dev.doorbell.experiments.results.tables.RunTables;
import dev.doorbell.experiments.results.tables.SampleTables;
import dev.doorbell.experiments.run.Expectations;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.RunDirectory.RunFiles;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.StoredRun;
import dev.doorbell.experiments.run.SummaryFiles;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Prints a run's table again, from its samples alone.",
      "",
      "  doorbell table runs/20260101T120000Z-pull-vs-push-7f3a91c2",
      "  doorbell table runs/20260101T120000Z-pull-vs-push-7f3a91c2 --fmt latex",
      "  doorbell table RUN --metric latency --only 'size<=4K' --sort -latency",
      "  doorbell table RUN --columns p50,ci,min --fmt latex --bare",
      "  doorbell table RUN RUN --format tidy -o samples.csv   docs/data.md reads it",
      ""
    })
public final class TableCommand extends CliCommand {
  @Mixin private RunPlace place = new RunPlace();

  @Parameters(
      paramLabel = "RUN",
      arity = "1..*",
      description = "A run: directory, name or tag; several with --format tidy.")
  private List<String> runs = new ArrayList<>();

  @Option(
      names = {"--fmt", "--format"},
      paramLabel = "FORMAT",
      description =
          "text, md, latex, csv or json; tidy: every sample in a row, "
              + "as pandas, R and DuckDB read it (default: text).")
  private Format format = Format.TEXT;

  @Mixin private TableView view = new TableView();

  @Option(
      names = {"-o", "--out"},
      paramLabel = "FILE",
      description =
          "Write a file instead; of --format tidy with FILE.units.json "
              + "beside it, which has the units.")
  private @Nullable Path out;

  @Option(names = "--bare", description = "LaTeX: the tabular alone, without box and notes.")
  private boolean bare;

  @Option(names = "--strict", description = "Exit 6 if an expectation of the config is NOT MET.")
  private boolean strict;

  @ArgGroup private Extra extra = new Extra();

  static final class Extra {
    @Option(names = "--warnings", description = "Samples that statistics may misjudge, and why.")
    boolean warnings;

    @Option(names = "--percentiles", description = "The tails: p50 to p99.99 and the maximum.")
    boolean percentiles;

    @Option(names = "--crossovers", description = "Who is ahead of whom, and from which size on.")
    boolean crossovers;

    @Option(names = "--counters", description = "What was counted: TLPs, crossings, fences.")
    boolean counters;

    @Option(
        names = "--expectations",
        description = "What the config expects, and whether it came so.")
    boolean expectations;

    /** The table that is asked for; empty for the results themselves. */
    private Optional<Kind> asked() {
      String rows = "no rows: the run has no sample that this table is about";
      return Stream.of(
              new Kind(warnings, SampleTables::warnings, "no warnings: no sample is suspicious"),
              new Kind(percentiles, SampleTables::percentiles, rows),
              new Kind(
                  crossovers,
                  RunTables::crossovers,
                  "no crossovers: the config asks for none (outputs: crossovers), or its lines share"
                      + " fewer than two places"),
              new Kind(
                  counters,
                  RunTables::counters,
                  "no counters: no metric of the run is counted (doorbell list metrics)"),
              new Kind(
                  expectations,
                  RunTables::expectations,
                  "no expectations: the config has none (docs/running.md)"))
          .filter(Kind::asked)
          .findFirst();
    }
  }

  /**
   * A table beside that of results.
   *
   * @param none what is printed where it has no row
   */
  private record Kind(boolean asked, Function<RunData, Table> table, String none) {}

  enum Format {
    TEXT,
    MD,
    LATEX,
    CSV,
    JSON,
    TIDY
  }

  @Override
  public ExitCode run(CommandContext context) throws ProblemException {
    if (format == Format.TIDY) {
      return tidy(context);
    }
    if (runs.size() > 1) {
      throw UsageException.wrong(
          runs.get(1), "a table is of one run", "--format tidy has the samples of several");
    }
    StoredRun stored = StoredRun.read(place.find(runs.getFirst()));
    RunData shown = view.of(stored);
    Format wanted = common().json() ? Format.JSON : format;
    if (bare && wanted != Format.LATEX) {
      throw UsageException.wrong("--bare", "it is about LaTeX", "add --fmt latex");
    }
    Optional<Kind> kind = extra.asked();
    @Nullable Table table = kind.map(each -> each.table.apply(shown)).orElse(null);
    int width = context.width();
    String text;
    if (table == null) {
      text = results(stored, shown, wanted, width);
    } else if (wanted == Format.TEXT && table.rows().isEmpty()) {
      text = Screen.folded(kind.map(Kind::none).orElse("") + "\n", width);
    } else {
      text = wanted == Format.JSON ? Json.text(table.tree()) : written(table, wanted, width);
    }
    write(context, text);
    return RunPlace.afterDamage(
        context,
        stored.damage(),
        strict && Expectations.anyNotMet(stored.data()) ? ExitCode.CLAIM : ExitCode.OK);
  }

  private ExitCode tidy(CommandContext context) throws ProblemException {
    List<RunData> data = new ArrayList<>();
    List<Problem> damage = new ArrayList<>();
    for (String run : runs) {
      StoredRun stored = StoredRun.read(place.find(run));
      damage.addAll(stored.damage());
      data.add(view.of(stored));
    }
    write(context, TidySamples.csv(data));
    Path file = out;
    if (file != null) {
      String name = file.getFileName() + ".units.json";
      file(context, file.resolveSibling(name), Json.text(TidySamples.units(data)));
    }
    return RunPlace.afterDamage(context, damage, ExitCode.OK);
  }

  private void write(CommandContext context, String text) throws RunException {
    if (out == null) {
      context.out().print(text);
    } else {
      file(context, out, text);
    }
  }

  private static void file(CommandContext context, Path file, String text) throws RunException {
    RunFiles.write(context.disk(), file, text.getBytes(StandardCharsets.UTF_8));
    context.println(file);
  }

  private String latex(Table table) {
    return bare ? table.bareLatex() : table.latex();
  }

  private String written(Table table, Format format, int width) throws UsageException {
    return switch (format) {
      case TEXT -> table.text(width);
      case MD -> table.markdown();
      case LATEX -> latex(table);
      case CSV -> table.csv();
      case JSON, TIDY -> throw new IllegalArgumentException("--fmt " + format);
    };
  }

  private String results(StoredRun stored, RunData shown, Format format, int width) {
    return switch (format) {
      case TEXT -> ResultTable.text(stored, shown, view.look(stored), width);
      case JSON -> SummaryFiles.json(shown);
      case TIDY -> TidySamples.csv(List.of(shown));
      case CSV -> SummaryFiles.csv(shown);
      case MD -> RunTables.summary(shown, view.look(stored), false).markdown();
      case LATEX -> latex(RunTables.summary(shown, view.look(stored), false));
    };
  }
}
