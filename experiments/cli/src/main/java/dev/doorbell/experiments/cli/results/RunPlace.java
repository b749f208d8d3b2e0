package dev.doorbell.experiments.cli.results;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.RunFinder;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Option;

final class RunPlace {
  @Option(
      names = "--runs",
      paramLabel = "DIR",
      description = "Folder in which runs are known by name and tag (default: runs).")
  private Path runs = Path.of("runs");

  Path find(String run) throws RunException {
    return new RunFinder(runs).find(run);
  }

  /**
   * Prints what of runs is damaged.
   *
   * @param code of the command for sound runs
   * @return {@code code}, or failure if there is damage and the code tells of nothing worse
   */
  static ExitCode afterDamage(CommandContext context, List<Problem> damage, ExitCode code) {
    damage.forEach(context::problem);
    return damage.isEmpty() || code != ExitCode.OK ? code : ExitCode.FAILED;
  }
}
