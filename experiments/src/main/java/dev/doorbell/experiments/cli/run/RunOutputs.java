package dev.doorbell.experiments.cli.run;

import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.figures.Figures;
import dev.doorbell.experiments.run.JournalEntry;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.RunDirectory;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.StoredRun;
import dev.doorbell.experiments.run.SummaryFiles;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.concurrent.CompletableFuture;

/** What is made from a run's samples when it ends. */
final class RunOutputs {
  private RunOutputs() {}

  /**
   * Writes summaries and figures into the run directory.
   *
   * @return names of the figures
   */
  static List<String> write(RunDirectory directory, StoredRun run) throws RunException {
    RunData data = run.data();
    SummaryFiles.compute(data);
    CompletableFuture<String> csv = CompletableFuture.supplyAsync(() -> SummaryFiles.csv(data));
    CompletableFuture<String> json = CompletableFuture.supplyAsync(() -> SummaryFiles.json(data));
    SequencedMap<String, byte[]> figures = Figures.render(data);
    SummaryFiles.write(directory, csv.join(), json.join());
    return directory.writeFigures(figures);
  }

  /** The run for {@code --json}. */
  static SequencedMap<String, Object> report(StoredRun run, List<String> figures, ExitCode code) {
    SequencedMap<String, Object> report = new LinkedHashMap<>();
    report.put("run", run.path().toString());
    report.put("exit", code.status());
    report.put("environment", run.manifest().environment());
    report.put("points", run.plan().points().size());
    report.put(
        "without_result",
        run.entries().stream().filter(e -> e.status() != JournalEntry.Status.OK).toList());
    if (!run.faults().isEmpty()) {
      report.put("faults", run.faults());
    }
    report.put("figures", figures);
    report.put("summary", SummaryFiles.tree(run.data()));
    return report;
  }
}
