package dev.doorbell.experiments.cli.run;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.results.figures.Figures;
import dev.doorbell.experiments.results.figures.Plots.PlotFormat;
import dev.doorbell.experiments.results.validation.Credit;
import dev.doorbell.experiments.run.JournalEntry;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.RunDirectory;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.StoredRun;
import dev.doorbell.experiments.run.SummaryFiles;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.concurrent.CompletableFuture;

final class RunOutputs {
  private RunOutputs() {}

  record Written(List<String> figures, List<Problem> missing) {}

  /**
   * Writes summaries and figures into the run directory. The figures are SVG, which is looked at;
   * what goes into a paper is drawn on demand.
   */
  static Written write(RunDirectory directory, StoredRun run, ExperimentRuntime runtime)
      throws RunException {
    RunData data = run.data();
    SummaryFiles.compute(data);
    CompletableFuture<String> csv = CompletableFuture.supplyAsync(() -> SummaryFiles.csv(data));
    CompletableFuture<String> json = CompletableFuture.supplyAsync(() -> SummaryFiles.json(data));
    Figures.Asked asked = Credit.figures(run, () -> runtime).asked(List.of());
    SequencedMap<String, byte[]> figures = asked.plots().files(EnumSet.of(PlotFormat.SVG));
    SummaryFiles.write(directory, csv.join(), json.join());
    return new Written(directory.writeFigures(figures), asked.missing());
  }

  static SequencedMap<String, Object> report(StoredRun run, Written written, ExitCode code) {
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
    report.put("figures", written.figures());
    if (!written.missing().isEmpty()) {
      report.put("figures_missing", written.missing());
    }
    report.put("summary", SummaryFiles.tree(run.data()));
    return report;
  }
}
