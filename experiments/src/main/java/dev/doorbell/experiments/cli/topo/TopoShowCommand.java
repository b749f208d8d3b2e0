package dev.doorbell.experiments.cli.topo;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.TextTable;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.topology.machine.MachineDevice;
import dev.doorbell.experiments.topology.machine.MachineMap;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;

/** {@code doorbell topo show FILE}. */
@CommandLine.Command(
    header = {
      "Lists the GPUs and HCAs of a machine, their links and how far they are from each other.",
      "",
      "  doorbell topo show nccl.xml",
      ""
    })
final class TopoShowCommand extends MachineCommand {
  @Override
  public ExitCode run(CommandContext context) throws UsageException, ConfigException {
    MachineMap map = machine();
    if (common().json()) {
      Json.print(context, map.devices());
      return ExitCode.OK;
    }
    TextTable table = new TextTable().left("device").left("bus").right("numa").left("link");
    map.devices().forEach(device -> table.left(device.name()));
    for (MachineDevice device : map.devices()) {
      List<String> cells =
          new ArrayList<>(
              List.of(
                  device.name(),
                  device.bus().isEmpty() ? "-" : device.bus(),
                  device.numa() < 0 ? "-" : String.valueOf(device.numa()),
                  device.link() == null ? "-" : device.link().toString()));
      for (MachineDevice other : map.devices()) {
        cells.add(other.equals(device) ? "X" : map.distance(device, other).name());
      }
      table.row(cells);
    }
    context.terminal().out().print("%s of %s%n".formatted(map.format(), file()) + table.text());
    return ExitCode.OK;
  }
}
