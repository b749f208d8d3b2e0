package dev.doorbell.experiments.cli.claims;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.results.claims.Claim;
import dev.doorbell.experiments.results.claims.Ledger;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Which claims of which ledger are meant. */
final class ClaimsSelection {
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
        throw new UsageException(
            Problem.of(
                    "DB-U003",
                    null,
                    "unknown claim '%s'%s".formatted(id, Nearest.suggestion(id, known)))
                .fix("doorbell claims list"));
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
