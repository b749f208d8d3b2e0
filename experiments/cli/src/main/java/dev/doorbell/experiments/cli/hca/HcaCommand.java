package dev.doorbell.experiments.cli.hca;

import dev.doorbell.experiments.cli.command.CommandGroup;
import java.util.List;
import picocli.CommandLine;

/** {@code doorbell hca ACTION}: the group; its actions are commands of their own. */
@CommandLine.Command(
    header = {
      "Software HCAs for programs of libibverbs. See docs/shim.md.",
      "",
      "  doorbell hca exec -- PROGRAM              the same as 'doorbell exec --gpus 0 -- PROGRAM'",
      "  doorbell hca port mlx5_0 down             takes a port down, as a pulled cable",
      ""
    })
public final class HcaCommand extends CommandGroup {
  public HcaCommand() {
    super(
        "hca",
        "the HCA",
        List.of(new Action("exec", HcaExecCommand::new), new Action("port", HcaPortCommand::new)));
  }
}
