package dev.doorbell.experiments.cli.claims;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Nearest;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.CommandGroup;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.results.claims.Claim;
import dev.doorbell.experiments.results.claims.Ledger;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Published claims about GPU-initiated communication, held against the model and experiments.",
      "",
      "  doorbell claims list                     what is claimed, and by whom",
      "  doorbell claims check                    reproduced, not reproduced, or not testable here",
      "  doorbell claims check H4 H7              some of them",
      "  doorbell claims check --ledger my.yaml   claims of your own",
      ""
    })
public final class ClaimsCommand extends CommandGroup {
  public ClaimsCommand() {
    super(
        "claims",
        "the claims",
        List.of(
            new Action("list", ClaimsListCommand::new),
            new Action("check", ClaimsCheckCommand::new)));
  }

  @CommandLine.Command(
      header = {
        "Lists claims with their sources and how they are tested.",
        "",
        "  doorbell claims list",
        "  doorbell claims list H4 H10",
        ""
      })
  static final class ClaimsListCommand extends CliCommand {
    @Mixin private ClaimsSelection selection = new ClaimsSelection();

    @Override
    public ExitCode run(CommandContext context) throws UsageException, ConfigException {
      List<Claim> claims = selection.claims();
      if (common().json()) {
        Json.print(context, claims);
        return ExitCode.OK;
      }
      PrintStream out = context.out();
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

  static final class ClaimsSelection {
    @Parameters(
        paramLabel = "CLAIM",
        arity = "0..*",
        description = "Claims by id; H4 means H4.crossover too (default: all).")
    private List<String> ids = new ArrayList<>();

    @Option(
        names = "--ledger",
        paramLabel = "FILE",
        description = "A ledger of your own, such as papers/pull-vs-push/claims.yaml.")
    private @Nullable Path ledger;

    List<Claim> claims() throws UsageException, ConfigException {
      List<Claim> all = (ledger == null ? Ledger.builtIn() : Ledger.load(ledger)).claims();
      for (String id : ids) {
        if (all.stream().noneMatch(claim -> matches(claim, id))) {
          List<String> known = all.stream().map(Claim::id).toList();
          throw UsageException.of(
              "DB-U003",
              null,
              "unknown claim '%s'%s".formatted(id, Nearest.suggestion(id, known)),
              "doorbell claims list");
        }
      }
      return ids.isEmpty()
          ? all
          : all.stream().filter(c -> ids.stream().anyMatch(id -> matches(c, id))).toList();
    }

    private static boolean matches(Claim claim, String id) {
      return claim.id().equals(id) || claim.id().startsWith(id + ".");
    }
  }
}
