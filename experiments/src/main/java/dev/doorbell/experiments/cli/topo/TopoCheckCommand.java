package dev.doorbell.experiments.cli.topo;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.UsageException;
import java.io.PrintStream;
import java.util.List;
import picocli.CommandLine;

/** {@code doorbell topo check FILE}. */
@CommandLine.Command(
    header = {
      "Says what in a machine is odd: links trained low, HCAs behind another socket.",
      "",
      "  doorbell topo check nccl.xml",
      "",
      "ACS and memory are not in these files: doorbell doctor looks at them on the machine itself.",
      ""
    })
final class TopoCheckCommand extends MachineCommand {
  @Override
  public ExitCode run(CommandContext context) throws UsageException, ConfigException {
    List<String> findings = machine().findings();
    PrintStream out = context.terminal().out();
    if (common().json()) {
      Json.print(context, findings);
    } else if (findings.isEmpty()) {
      out.println("nothing odd");
    } else {
      findings.forEach(out::println);
    }
    return ExitCode.OK;
  }
}
