package dev.doorbell.experiments.cli.hca;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.interop.control.ControlClient;
import dev.doorbell.interop.control.ControlLine;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code doorbell hca pcap}. */
@CommandLine.Command(
    header = {
      "Starts and stops a capture of a served HCA's packets.",
      "",
      "  doorbell hca pcap 5000 start served.pcapng    writes traces/served.pcapng",
      "  doorbell hca pcap 5000 stop",
      "",
      "The serving process writes the file, below the folder of its --captures alone, here",
      "'doorbell hca serve --port 5000 --captures traces'; the file must not exist. 'doorbell",
      "decode packet' checks it.",
      ""
    })
final class HcaPcapCommand extends CliCommand {
  @Mixin private HcaPlace place = new HcaPlace();

  @Parameters(index = "1", paramLabel = "start|stop", description = "What to do.")
  private String action = "";

  @Parameters(
      index = "2",
      arity = "0..1",
      paramLabel = "FILE",
      description = "Where to, below the folder of 'hca serve --captures'.")
  private @Nullable Path file;

  @Override
  public ExitCode run(CommandContext context) throws UsageException, EnvironmentException {
    ControlLine request = ControlLine.of("pcap");
    if (action.equals("start") && file != null) {
      request = request.with("start", file);
    } else if (action.equals("stop") && file == null) {
      request = request.with("stop", "now");
    } else {
      throw new UsageException(
          Problem.of("DB-U003", null, "say 'start FILE' or 'stop'")
              .fix("doorbell hca pcap --help"));
    }
    try (ControlClient client = place.open()) {
      ControlLine answer = client.call(request);
      String frames = answer.values().get("frames");
      String name = answer.values().getOrDefault("file", "");
      context
          .terminal()
          .out()
          .println(
              frames == null ? "capturing to " + name : "%s: %s frames".formatted(name, frames));
    }
    return ExitCode.OK;
  }
}
