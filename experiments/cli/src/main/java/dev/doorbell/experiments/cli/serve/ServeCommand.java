package dev.doorbell.experiments.cli.serve;

import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.UsageException;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine;
import picocli.CommandLine.Option;

@CommandLine.Command(
    header = {
      "Shows runs on a page of a browser on this machine until it is interrupted. See"
          + " docs/serve.md.",
      "",
      "  doorbell serve",
      "  doorbell serve --runs /data/runs --port 8080",
      "",
      "It listens on 127.0.0.1 alone and answers those who have the token of the printed address.",
      ""
    })
public final class ServeCommand extends CliCommand {
  private static final int TOKEN_BYTES = 16;

  @Option(
      names = "--runs",
      paramLabel = "DIR",
      description = "Folder with the runs (default: runs).")
  private Path runs = Path.of("runs");

  @Option(names = "--port", description = "TCP port (default: any that is free).")
  private int port;

  @Override
  public ExitCode run(CommandContext context) throws UsageException {
    byte[] token = new byte[TOKEN_BYTES];
    new SecureRandom().nextBytes(token);
    try (PageServer server =
        PageServer.start(
            port, HexFormat.of().formatHex(token), new RunPages(runs, context.runtime()))) {
      print(
          context,
          () -> Map.of("address", server.address()),
          () -> server.address() + "  Ctrl-C ends it\n");
      context.out().flush();
      new CountDownLatch(1).await(); // an interrupt ends the process
      return ExitCode.OK;
    } catch (IOException e) {
      throw UsageException.wrong(
          "--port " + port,
          "cannot listen there: " + e.getMessage(),
          "leave --port out to take any that is free");
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return ExitCode.OK;
    }
  }
}
