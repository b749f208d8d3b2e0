package dev.doorbell.experiments.cli.hca;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.TextTable;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.interop.control.ControlClient;
import dev.doorbell.interop.control.ControlLine;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;

/** {@code doorbell hca faults}. */
@CommandLine.Command(
    header = {
      "Prints how often each fault of a served HCA's plan has fired.",
      "",
      "  doorbell hca faults 5000",
      "",
      "Exits with 1 while a fault that must fire has not.",
      ""
    })
final class HcaFaultsCommand extends CliCommand {
  @Mixin private HcaPlace place = new HcaPlace();

  /** One fault of the plan. */
  private record Count(String fault, long seen, long fired, boolean missed) {}

  @Override
  public ExitCode run(CommandContext context) throws UsageException, EnvironmentException {
    List<Count> counts = new ArrayList<>();
    try (ControlClient client = place.open()) {
      long all = 1;
      while (counts.size() < all) {
        ControlLine answer = client.call(ControlLine.of("faults").with("from", counts.size()));
        all = number(answer, "faults");
        int before = counts.size();
        for (int i = before; i < all; i++) {
          String prefix = "f%d.".formatted(i);
          String text = answer.values().get(prefix + "text");
          if (text == null) {
            break;
          }
          counts.add(
              new Count(
                  text,
                  number(answer, prefix + "events"),
                  number(answer, prefix + "fired"),
                  Boolean.parseBoolean(answer.values().get(prefix + "missed"))));
        }
        if (counts.size() == before) {
          break;
        }
      }
    }
    if (common().json()) {
      Json.print(context, counts);
    } else if (counts.isEmpty()) {
      context.terminal().out().println("no fault plan; give one with doorbell hca serve --faults");
    } else {
      TextTable table = new TextTable().left("fault").right("seen").right("fired").left("");
      for (Count count : counts) {
        table.row(
            List.of(
                count.fault,
                String.valueOf(count.seen),
                String.valueOf(count.fired),
                count.missed ? "must fire and has not" : ""));
      }
      context.terminal().out().print(table.text());
    }
    return counts.stream().anyMatch(Count::missed) ? ExitCode.FAILED : ExitCode.OK;
  }

  private static long number(ControlLine answer, String name) {
    return Long.parseLong(answer.values().getOrDefault(name, "0"));
  }
}
