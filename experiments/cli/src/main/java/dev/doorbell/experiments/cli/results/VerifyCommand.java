package dev.doorbell.experiments.cli.results;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.RunIndex;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Compares the files of runs with the seal that each run ended with.",
      "",
      "  doorbell verify runs/20261128T182208Z-pull-vs-push-45fc886d",
      "",
      "Every command that reads a run checks its journal and its manifest; this one",
      "reads all samples too, and says what is intact. Exits with 1 where a file is",
      "not what it was.",
      ""
    })
public final class VerifyCommand extends CliCommand {
  @Mixin private RunPlace place = new RunPlace();

  @Parameters(paramLabel = "RUN", arity = "1..*", description = "Runs: directories, names or tags.")
  private List<String> runs = List.of();

  @Override
  public ExitCode run(CommandContext context) throws RunException {
    List<Problem> damage = new ArrayList<>();
    for (String name : runs) {
      RunIndex run = RunIndex.read(place.find(name)).withoutDamagedSamples();
      damage.addAll(run.damage());
      context.print(
          "%s  %s  %s; samples of %d of %d points are as recorded; basis %s%n"
              .formatted(
                  run.id(),
                  run.damage().isEmpty() ? "intact" : "DAMAGED",
                  run.sealed() ? "sealed" : "not sealed (cut off, or made before runs had seals)",
                  run.results().size(),
                  run.plan().points().size(),
                  run.manifest().basis().word()));
    }
    return RunPlace.afterDamage(context, damage, ExitCode.OK);
  }
}
