package dev.doorbell.experiments.cli;

import dev.doorbell.experiments.config.Problem;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;

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
final class ClaimsCommand implements Command {
  @Mixin private CommonOptions common = new CommonOptions();

  @Override
  public ExitCode run(Context context) throws UsageException {
    throw new UsageException(
        Problem.of("DB-U003", null, "say what to do with the claims")
            .fix("doorbell claims list, or doorbell claims check"));
  }

  @Override
  public boolean verbose() {
    return common.verbose;
  }
}
