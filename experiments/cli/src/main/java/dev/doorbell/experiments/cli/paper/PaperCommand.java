package dev.doorbell.experiments.cli.paper;

import dev.doorbell.experiments.cli.command.CommandGroup;
import java.util.List;
import picocli.CommandLine;

@CommandLine.Command(
    header = {
      "Papers whose figures and numbers come from runs alone. See docs/papers.md.",
      "",
      "  doorbell paper new papers/mine       a paper to start from, which builds",
      "  doorbell paper build papers/mine     runs what is missing, writes generated/",
      "  doorbell paper verify papers/mine    everything once more, elsewhere; compares bytes",
      ""
    })
public final class PaperCommand extends CommandGroup {
  public PaperCommand() {
    super(
        "paper",
        "the paper",
        List.of(
            new Action("new", PaperNewCommand::new),
            new Action("build", PaperBuildCommand::new),
            new Action("verify", PaperVerifyCommand::new)));
  }
}
