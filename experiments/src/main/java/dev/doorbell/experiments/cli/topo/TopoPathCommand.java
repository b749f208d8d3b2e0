package dev.doorbell.experiments.cli.topo;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.topology.machine.MachineDevice;
import dev.doorbell.experiments.topology.machine.MachineMap;
import dev.doorbell.experiments.topology.machine.MachineTopology;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Parameters;

/** {@code doorbell topo path FILE FROM TO}. */
@CommandLine.Command(
    header = {
      "Says what a TLP passes between two devices of a machine.",
      "",
      "  doorbell topo path nccl.xml gpu0 mlx5_0",
      ""
    })
final class TopoPathCommand extends MachineCommand {
  @Parameters(index = "1", paramLabel = "FROM", description = "A device, such as gpu0.")
  private String from = "";

  @Parameters(index = "2", paramLabel = "TO", description = "Another, such as mlx5_0.")
  private String to = "";

  @Override
  public ExitCode run(CommandContext context) throws UsageException, ConfigException {
    MachineMap map = machine();
    MachineDevice one = device(map, from);
    MachineDevice other = device(map, to);
    List<String> path = map.path(one, other);
    if (common().json()) {
      Json.print(context, path);
    } else {
      context
          .terminal()
          .out()
          .printf(
              "%s%n%s, priced as %s%n",
              String.join(" - ", path),
              map.distance(one, other),
              MachineTopology.base(map.distance(one, other)));
    }
    return ExitCode.OK;
  }
}
