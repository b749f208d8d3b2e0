package dev.doorbell.experiments.cli.paper;

import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.results.paper.Paper;
import dev.doorbell.experiments.results.paper.PaperBuild;
import java.nio.file.Path;
import java.util.SequencedMap;

record BuiltPaper(Path folder, Paper paper, PaperRuns runs, SequencedMap<String, byte[]> files) {
  /** Folder of what is built, in the paper's. */
  static final String GENERATED = "generated";

  /** Folder of the runs, in the paper's; not kept in repositories. */
  static final String RUNS = "runs";

  static BuiltPaper of(CommandContext context, Path folder, Path kept, boolean quiet)
      throws ProblemException {
    Paper paper = Paper.read(folder);
    PaperRuns runs = new PaperRuns(context, folder, kept, quiet);
    runs.ensure(paper);
    return new BuiltPaper(
        folder,
        paper,
        runs,
        PaperBuild.of(folder, paper, runs.runs(), runs.calibrations(), context.runtime().get()));
  }
}
