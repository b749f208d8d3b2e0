package dev.doorbell.experiments.cli;

import dev.doorbell.experiments.config.Problem;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;

/** {@code doorbell hca ACTION}: the group; its actions are commands of their own. */
@CommandLine.Command(
    header = {
      "HCAs of more than one process, over RoCEv2 in UDP. See docs/hca-serve.md.",
      "",
      "  doorbell hca serve --port 5000           an HCA that other processes use",
      "  doorbell hca stats 5000                  what it has carried",
      "  doorbell hca faults 5000                 what of its fault plan has happened",
      "  doorbell hca pcap 5000 start x.pcapng    capture; 'pcap 5000 stop' ends it",
      "  doorbell hca bench                       WRITEs between two processes",
      "  doorbell hca alltoall                    8 ranks in two processes, every byte checked",
      "  doorbell hca exec -- PROGRAM              libibverbs programs on software HCAs",
      ""
    })
final class HcaCommand implements Command {
  @Mixin private CommonOptions common = new CommonOptions();

  @Override
  public ExitCode run(Context context) throws UsageException {
    throw new UsageException(
        Problem.of("DB-U003", null, "say what to do with the HCA")
            .fix("doorbell hca serve, stats, faults, pcap, bench, alltoall or exec"));
  }

  @Override
  public boolean verbose() {
    return common.verbose;
  }
}
