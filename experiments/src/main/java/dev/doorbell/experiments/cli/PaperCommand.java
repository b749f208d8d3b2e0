package dev.doorbell.experiments.cli;

import dev.doorbell.experiments.config.Problem;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;

/** {@code doorbell paper ACTION}: the group; its actions are commands of their own. */
@CommandLine.Command(
    header = {
      "Papers whose figures and numbers come from runs alone. See docs/papers.md.",
      "",
      "  doorbell paper new papers/mine       a paper to start from, which builds",
      "  doorbell paper build papers/mine     runs what is missing, writes generated/",
      "  doorbell paper verify papers/mine    everything once more, elsewhere; compares bytes",
      "  doorbell paper pack papers/mine      the artifact as one archive",
      ""
    })
final class PaperCommand implements Command {
  @Mixin private CommonOptions common = new CommonOptions();

  @Override
  public ExitCode run(Context context) throws UsageException {
    throw new UsageException(
        Problem.of("DB-U003", null, "say what to do with the paper")
            .fix("doorbell paper new, build, verify or pack"));
  }

  @Override
  public boolean verbose() {
    return common.verbose;
  }
}
