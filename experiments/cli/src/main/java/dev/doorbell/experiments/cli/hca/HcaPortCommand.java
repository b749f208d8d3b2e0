package dev.doorbell.experiments.cli.hca;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.interop.access.PrivateFolder;
import dev.doorbell.interop.shim.PortControl;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Takes the port of a device of 'doorbell hca exec' down or up, as a pulled cable does.",
      "",
      "  doorbell hca port mlx5_0 down",
      "  doorbell hca port mlx5_0 up",
      "",
      "Programs get IBV_EVENT_PORT_ERR and IBV_EVENT_PORT_ACTIVE; what is sent meanwhile is lost.",
      ""
    })
final class HcaPortCommand extends CliCommand {
  private static final String PREFIX = "mlx5_";

  @Parameters(index = "0", paramLabel = "DEVICE", description = "mlx5_0, mlx5_1, ...")
  private String device = "";

  @Parameters(index = "1", paramLabel = "up|down", description = "What to do.")
  private String action = "";

  @Option(
      names = "--at",
      paramLabel = "FOLDER",
      description = "Where the devices are served; as of 'hca exec'.")
  private @Nullable Path at;

  @Override
  public ExitCode run(CommandContext context) throws ProblemException {
    if (!device.matches(PREFIX + "[0-9]{1,3}")) {
      throw new UsageException(
          Problem.of("DB-U003", device, "it is no device").fix("say mlx5_0, for example"));
    }
    ProgramCommand.require(action.equals("up") || action.equals("down"), action, "up or down");
    Path folder = at == null ? PrivateFolder.ofUser().resolve("exec") : at;
    int number = Integer.parseInt(device.substring(PREFIX.length()));
    PortControl.set(folder, number, action.equals("up"));
    context.printf("%s: port 1 is %s%n", device, action);
    return ExitCode.OK;
  }
}
