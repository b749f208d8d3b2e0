package dev.doorbell.experiments.cli;

import dev.doorbell.experiments.figures.Tables;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.StoredRun;
import dev.doorbell.experiments.run.SummaryFiles;
import java.nio.file.Path;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code doorbell table RUN}. */
@CommandLine.Command(
    header = {
      "Prints a run's table again, from its samples alone.",
      "",
      "  doorbell table runs/20260101T120000Z-pull-vs-push-7f3a91c2",
      "  doorbell table runs/20260101T120000Z-pull-vs-push-7f3a91c2 --fmt latex",
      ""
    })
final class TableCommand implements Command {
  @Mixin private CommonOptions common = new CommonOptions();

  @Parameters(paramLabel = "RUN", description = "A run directory.")
  private Path run = Path.of("");

  @Option(
      names = "--fmt",
      paramLabel = "FORMAT",
      description = "text, md, latex, csv or json (default: text).")
  private Format format = Format.TEXT;

  /** How a table may be written. */
  enum Format {
    TEXT,
    MD,
    LATEX,
    CSV,
    JSON
  }

  @Override
  public ExitCode run(Context context) throws RunException {
    StoredRun stored = StoredRun.read(run);
    String text =
        switch (common.json ? Format.JSON : format) {
          case TEXT -> ResultTable.text(stored);
          case JSON -> SummaryFiles.json(stored.data());
          case CSV -> SummaryFiles.csv(stored.data());
          case MD -> Tables.summary(stored.data()).markdown();
          case LATEX -> Tables.summary(stored.data()).latex();
        };
    context.terminal().out().print(text);
    return ExitCode.OK;
  }

  @Override
  public boolean verbose() {
    return common.verbose;
  }
}
