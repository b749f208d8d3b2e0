package dev.doorbell.experiments.cli;

import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.StoredRun;
import dev.doorbell.experiments.run.SummaryFiles;
import java.nio.file.Path;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code doorbell table RUN}. */
@CommandLine.Command(
    header = {
      "Prints a run's table again, from its samples alone.",
      "",
      "  doorbell table runs/20260101T120000Z-pull-vs-push-7f3a91c2",
      ""
    })
final class TableCommand implements Command {
  @Mixin private CommonOptions common = new CommonOptions();

  @Parameters(paramLabel = "RUN", description = "A run directory.")
  private Path run = Path.of("");

  @Override
  public ExitCode run(Context context) throws RunException {
    StoredRun stored = StoredRun.read(run);
    if (common.json) {
      Json.print(context, SummaryFiles.tree(stored.data()));
    } else {
      context.terminal().out().print(ResultTable.text(stored));
    }
    return ExitCode.OK;
  }

  @Override
  public boolean verbose() {
    return common.verbose;
  }
}
