package dev.doorbell.experiments.cli;

import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.core.problem.Typed;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import picocli.CommandLine;

@CommandLine.Command(
    header = {
      "Posts one put and prints its WQE, doorbell record, doorbell, fetch, payload and CQE.",
      "",
      "  doorbell demo",
      ""
    })
final class DemoCommand extends CliCommand {
  @Override
  public ExitCode run(CommandContext context) throws ProblemException {
    context.runtime().get().demo(context.out());
    if (!common().quiet()) {
      context.println(
          Typed.in("next  doorbell run pull-vs-push   |   doorbell describe pull-vs-push"));
    }
    return ExitCode.OK;
  }
}
