package dev.doorbell.experiments.cli.topo;

import dev.doorbell.experiments.cli.command.CommandGroup;
import java.util.List;
import picocli.CommandLine;

/** {@code doorbell topo ACTION}. */
@CommandLine.Command(
    header = {
      "Reads machines as NCCL, nvidia-smi and lstopo describe them. See docs/topologies.md.",
      "",
      "  doorbell topo import nccl.xml -o mine.yaml         a topology for experiments",
      "  doorbell topo show topo.txt                        devices, links, distances",
      "  doorbell topo path nccl.xml gpu0 mlx5_0            what a TLP passes",
      "  doorbell topo check lstopo.xml                     what is odd",
      "",
      "FILE is NCCL's dump (NCCL_TOPO_DUMP_FILE), the text of nvidia-smi topo -m, or lstopo --of xml."
    })
public final class TopoCommand extends CommandGroup {
  public TopoCommand() {
    super(
        "topo",
        "the machine",
        List.of(
            new Action("import", TopoImportCommand::new),
            new Action("show", TopoShowCommand::new),
            new Action("path", TopoPathCommand::new),
            new Action("check", TopoCheckCommand::new)));
  }
}
