package dev.doorbell.experiments.cli.hca;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.remote.ControlClient;
import dev.doorbell.experiments.remote.ControlLine;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;

/** {@code doorbell hca stats}. */
@CommandLine.Command(
    header = {
      "Says what a served HCA has carried and what it has dropped, and who uses it.",
      "",
      "  doorbell hca stats 5000",
      ""
    })
final class HcaStatsCommand extends CliCommand {
  @Mixin private HcaPlace place = new HcaPlace();

  @Override
  public ExitCode run(CommandContext context) throws UsageException, EnvironmentException {
    try (ControlClient client = place.open()) {
      ControlLine stats = client.call(ControlLine.of("stats"));
      if (common().json()) {
        Json.print(context, stats.values());
        return ExitCode.OK;
      }
      stats
          .values()
          .forEach(
              (name, value) ->
                  context.terminal().out().printf("%-14s %s%n", name.replace('_', ' '), value));
    }
    return ExitCode.OK;
  }
}
