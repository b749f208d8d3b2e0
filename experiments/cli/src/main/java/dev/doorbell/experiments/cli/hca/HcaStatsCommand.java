package dev.doorbell.experiments.cli.hca;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.interop.control.ControlClient;
import dev.doorbell.interop.control.ControlLine;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;

/** {@code doorbell hca stats}. */
@CommandLine.Command(
    header = {
      "Prints the packets that a served HCA has carried and dropped, and its clients.",
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
