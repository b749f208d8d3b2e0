package dev.doorbell.experiments.cli.hca;

import dev.doorbell.experiments.cli.command.CommandGroup;
import java.util.List;
import picocli.CommandLine;

/** {@code doorbell hca ACTION}: the group; its actions are commands of their own. */
@CommandLine.Command(
    header = {
      "HCAs of more than one process, over RoCEv2 in UDP. See docs/hca-serve.md.",
      "",
      "  doorbell hca serve --port 5000           an HCA that other processes use",
      "  doorbell hca stats 5000                  what it has carried",
      "  doorbell hca faults 5000                 what of its fault plan has happened",
      "  doorbell hca pcap 5000 start x.pcapng    capture; 'pcap 5000 stop' ends it",
      "  doorbell hca exec -- PROGRAM              libibverbs programs on software HCAs",
      "  doorbell hca port mlx5_0 down            their ports, as a pulled cable",
      ""
    })
public final class HcaCommand extends CommandGroup {
  public HcaCommand() {
    super(
        "hca",
        "the HCA",
        List.of(
            new Action("serve", HcaServeCommand::new),
            new Action("stats", HcaStatsCommand::new),
            new Action("faults", HcaFaultsCommand::new),
            new Action("pcap", HcaPcapCommand::new),
            new Action("exec", HcaExecCommand::new),
            new Action("port", HcaPortCommand::new)));
  }
}
