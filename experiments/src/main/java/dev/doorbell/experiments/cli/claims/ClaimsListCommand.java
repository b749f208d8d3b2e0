package dev.doorbell.experiments.cli.claims;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.results.claims.Claim;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;

/** {@code doorbell claims list}. */
@CommandLine.Command(
    header = {
      "Lists claims with their sources and how they are tested.",
      "",
      "  doorbell claims list",
      "  doorbell claims list H4 H10",
      ""
    })
final class ClaimsListCommand extends CliCommand {
  @Mixin private ClaimsSelection selection = new ClaimsSelection();

  @Override
  public ExitCode run(CommandContext context) throws UsageException, ConfigException {
    List<Claim> claims = selection.claims();
    if (common().json()) {
      Json.print(context, claims);
      return ExitCode.OK;
    }
    PrintStream out = context.terminal().out();
    for (Claim claim : claims) {
      out.printf("%-20s %s%n", claim.id(), claim.statement());
      if (!claim.corrects().isEmpty()) {
        out.printf("  corrects  %s%n", claim.corrects());
      }
      out.printf(
          "  tested    %s%s%n",
          claim.method().name().toLowerCase(Locale.ROOT),
          claim.expression().isEmpty() ? "" : ": " + claim.expression());
      out.printf("  source    %s%n", claim.source());
    }
    return ExitCode.OK;
  }
}
