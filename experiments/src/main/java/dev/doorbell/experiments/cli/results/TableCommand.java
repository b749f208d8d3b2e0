package dev.doorbell.experiments.cli.results;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.results.formats.ToolFormat;
import dev.doorbell.experiments.results.print.Table;
import dev.doorbell.experiments.results.tables.RunTables;
import dev.doorbell.experiments.results.tables.SampleTables;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.StoredRun;
import dev.doorbell.experiments.run.SummaryFiles;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code doorbell table RUN}. */
@CommandLine.Command(
    header = {
      "Prints a run's table again, from its samples alone; the shards of one plan as one table.",
      "",
      "  doorbell table runs/20260101T120000Z-pull-vs-push-7f3a91c2",
      "  doorbell table runs/20260101T120000Z-pull-vs-push-7f3a91c2 --fmt latex",
      "  doorbell table part1 part2 part3 --fmt csv",
      "  doorbell table RUN --fits --fmt latex",
      "  doorbell table RUN --format perftest",
      ""
    })
public final class TableCommand extends CliCommand {
  @Mixin private RunPlace place = new RunPlace();

  @Parameters(
      paramLabel = "RUN",
      arity = "1..*",
      description = "A run: directory, name or tag. Several are merged.")
  private List<String> runs = new ArrayList<>();

  @Option(
      names = {"--fmt", "--format"},
      paramLabel = "FORMAT",
      description = {
        "text, md, latex, csv or json; or as another tool prints",
        "it: perftest, nccl, osu (default: text)."
      })
  private Format format = Format.TEXT;

  @ArgGroup private Extra extra = new Extra();

  /** Other tables of the same samples. */
  static final class Extra {
    @Option(names = "--warnings", description = "Samples that statistics may misjudge, and why.")
    boolean warnings;

    @Option(names = "--percentiles", description = "The tails: p50 to p99.99 and the maximum.")
    boolean percentiles;

    @Option(
        names = "--fits",
        description = "Lines over size: alpha and bandwidth, knees, LogGP parameters.")
    boolean fits;

    @Option(names = "--crossovers", description = "Who is ahead of whom, and from which size on.")
    boolean crossovers;

    @Option(names = "--counters", description = "What was counted: TLPs, crossings, fences.")
    boolean counters;

    @Option(
        names = "--expectations",
        description = "What the config expects, and whether it came so.")
    boolean expectations;

    /** The table that is asked for; null for the results themselves. */
    @Nullable Table of(RunData run) {
      if (warnings) {
        return SampleTables.warnings(run);
      }
      if (percentiles) {
        return SampleTables.percentiles(run);
      }
      if (fits) {
        return SampleTables.fits(run);
      }
      if (crossovers) {
        return RunTables.crossovers(run);
      }
      if (counters) {
        return RunTables.counters(run);
      }
      return expectations ? RunTables.expectations(run) : null;
    }
  }

  /** How a table may be written. */
  enum Format {
    TEXT,
    MD,
    LATEX,
    CSV,
    JSON,
    PERFTEST,
    NCCL,
    OSU
  }

  @Override
  public ExitCode run(CommandContext context) throws RunException, UsageException {
    StoredRun stored = place.read(runs);
    Format wanted = common().json() ? Format.JSON : format;
    Table table = extra.of(stored.data());
    if (table != null && wanted == Format.JSON) {
      Json.print(context, table.tree());
    } else {
      context
          .terminal()
          .out()
          .print(table == null ? results(stored, wanted) : written(table, wanted));
    }
    return ExitCode.OK;
  }

  private static String written(Table table, Format format) throws UsageException {
    return switch (format) {
      case TEXT -> table.text();
      case MD -> table.markdown();
      case LATEX -> table.latex();
      case CSV -> table.csv();
      case JSON, PERFTEST, NCCL, OSU ->
          throw new UsageException(
              Problem.of(
                      "DB-U002",
                      "--fmt " + format.name().toLowerCase(Locale.ROOT),
                      "that tool prints latency and goodput, and no such table")
                  .fix("text, md, latex, csv and json have it"));
    };
  }

  private static String results(StoredRun stored, Format format) throws RunException {
    return switch (format) {
      case TEXT -> ResultTable.text(stored);
      case JSON -> SummaryFiles.json(stored.data());
      case CSV -> SummaryFiles.csv(stored.data());
      case MD -> RunTables.summary(stored.data()).markdown();
      case LATEX -> RunTables.summary(stored.data()).latex();
      case PERFTEST -> foreign(ToolFormat.PERFTEST, stored);
      case NCCL -> foreign(ToolFormat.NCCL, stored);
      case OSU -> foreign(ToolFormat.OSU, stored);
    };
  }

  private static String foreign(ToolFormat tool, StoredRun stored) throws RunException {
    String text = tool.text(stored);
    if (text.isEmpty()) {
      throw RunException.unreadable(
          Problem.of(
                  "DB-R008",
                  stored.data().runId(),
                  "it has neither latency nor goodput of messages of a size")
              .fix("doorbell table RUN --fmt csv prints whatever it has"));
    }
    return text;
  }
}
