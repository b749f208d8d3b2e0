package dev.doorbell.experiments.cli;

import dev.doorbell.experiments.config.Problem;
import dev.doorbell.experiments.figures.Tables;
import dev.doorbell.experiments.formats.ToolFormat;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.StoredRun;
import dev.doorbell.experiments.run.SummaryFiles;
import java.util.ArrayList;
import java.util.List;
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
      "  doorbell table RUN --format perftest",
      ""
    })
final class TableCommand extends Command {
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

  /** Other views of the same samples. */
  static final class Extra {
    @Option(names = "--doubts", description = "Why samples may not be what statistics ask for.")
    boolean doubts;

    @Option(names = "--percentiles", description = "The tails: p50 to p99.99 and the maximum.")
    boolean percentiles;

    @Option(
        names = "--fits",
        description = "Lines over size: alpha and bandwidth, knees, LogGP parameters.")
    boolean fits;
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
  public ExitCode run(Context context) throws RunException {
    StoredRun stored = place.read(runs);
    context.terminal().out().print(text(stored));
    return ExitCode.OK;
  }

  private String text(StoredRun stored) throws RunException {
    if (extra.doubts) {
      String doubts = ResultTable.doubts(stored);
      return doubts.isEmpty() ? "nothing is in doubt\n" : doubts;
    }
    if (extra.percentiles) {
      return Views.percentiles(stored.data());
    }
    if (extra.fits) {
      return Views.fits(stored.data());
    }
    return switch (common().json() ? Format.JSON : format) {
      case TEXT -> ResultTable.text(stored);
      case JSON -> SummaryFiles.json(stored.data());
      case CSV -> SummaryFiles.csv(stored.data());
      case MD -> Tables.summary(stored.data()).markdown();
      case LATEX -> Tables.summary(stored.data()).latex();
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
