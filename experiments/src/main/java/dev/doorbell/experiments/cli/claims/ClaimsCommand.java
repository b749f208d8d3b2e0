package dev.doorbell.experiments.cli.claims;

import dev.doorbell.experiments.cli.command.CommandGroup;
import java.util.List;
import picocli.CommandLine;

/** {@code doorbell claims ACTION}: the group; its actions are commands of their own. */
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
}
