package dev.doorbell.experiments.cli.run;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.run.MergedRun;
import dev.doorbell.experiments.run.RunDirectory;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.RunFinder;
import dev.doorbell.experiments.run.StoredRun;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Makes one run of the parts of a plan, such as the shards of a sweep.",
      "",
      "  doorbell merge /shared/runs/*",
      "",
      "Prints the directory of the new run; every command takes it as the run of one",
      "process. It exits with 7 and names the points that are missing; then",
      "'doorbell run --resume RUN' runs them, and nothing else.",
      ""
    })
public final class MergeCommand extends CliCommand {
  private static final int MOST = 8;

  @Parameters(
      paramLabel = "PART",
      arity = "1..*",
      description = "Parts: directories, names or tags of runs of one config.")
  private List<String> parts = List.of();

  @Option(
      names = {"-o", "--out"},
      paramLabel = "DIR",
      description = "Folder for the new run, and in which parts are known (default: runs).")
  private Path out = Path.of("runs");

  @Override
  public ExitCode run(CommandContext context) throws RunException {
    RunFinder finder = new RunFinder(out);
    List<StoredRun> read = new ArrayList<>();
    List<Problem> damage = new ArrayList<>();
    for (String part : parts) {
      StoredRun run = StoredRun.read(finder.find(part));
      read.add(run);
      damage.addAll(run.damage());
    }
    if (!damage.isEmpty()) {
      damage.forEach(context::problem);
      return ExitCode.FAILED;
    }
    try (RunDirectory directory =
        MergedRun.write(
            context.disk(), out, read, context.arguments(), context.clock().instant())) {
      StoredRun whole = StoredRun.read(directory.path());
      RunOutputs.write(directory, whole, context.runtime().get());
      context.println(directory.path());
      int missing = whole.unfinished().size();
      if (missing > 0) {
        context.problem(
            Problem.of(
                    "DB-R013",
                    directory.path().toString(),
                    "%d of %d points have no result: %s"
                        .formatted(
                            missing,
                            whole.plan().points().size(),
                            String.join(
                                    ", ",
                                    whole.unfinished().stream()
                                        .map(p -> p.id())
                                        .limit(MOST)
                                        .toList())
                                + (missing > MOST ? ", ..." : "")))
                .fix("doorbell run --resume " + directory.path()));
        return ExitCode.PARTIAL;
      }
      whole.missedFaults().forEach(missed -> context.problem(missed.problem()));
      return whole.missedFaults().isEmpty() ? ExitCode.OK : ExitCode.FAILED;
    }
  }
}
