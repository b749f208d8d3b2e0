package dev.doorbell.experiments.cli.hca;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.ProgramExit;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.remote.ProgramDevices;
import dev.doorbell.experiments.remote.ProgramHcas;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code doorbell hca exec}. */
@CommandLine.Command(
    header = {
      "Runs a program of libibverbs and libmlx5, unmodified, on software HCAs. See docs/shim.md.",
      "",
      "  doorbell hca exec -- ibv_devinfo -v",
      "  doorbell hca exec -- ib_write_bw -d mlx5_0 -x 0 &",
      "  doorbell hca exec -- ib_write_bw -d mlx5_0 -x 0 127.0.0.1",
      "",
      "The first one serves the devices to all who name the same folder, until none has them open.",
      "Ends with the program's exit status. Without a program: serves until it is interrupted.",
      ""
    })
final class HcaExecCommand extends CliCommand {
  private static final int MOST_DEVICES = 16;
  private static final long LOOK_MILLIS = 100;

  @Option(
      names = "--devices",
      paramLabel = "N",
      description = "How many devices, mlx5_0 to mlx5_N-1; ${DEFAULT-VALUE} unless given.")
  private int devices = 1;

  @Option(
      names = "--at",
      paramLabel = "FOLDER",
      description = "Where the devices are served; a folder of the user's unless given.")
  private @Nullable Path at;

  @Parameters(paramLabel = "PROGRAM ARGUMENTS", description = "After '--'.")
  private List<String> program = new ArrayList<>();

  @Override
  public ExitCode run(CommandContext context) throws UsageException, EnvironmentException {
    if (devices < 1 || devices > MOST_DEVICES) {
      throw new UsageException(Problem.of("DB-U003", "--devices", "it is 1 to " + MOST_DEVICES));
    }
    Path folder = (at == null ? usual() : at).toAbsolutePath();
    ProgramHcas hcas = ProgramHcas.find();
    Map<String, String> environment =
        hcas.environment(Path.of(System.getProperty("doorbell.home", ".")), folder);
    if (hcas.isServed(folder)) {
      if (program.isEmpty()) {
        throw new UsageException(
            Problem.of("DB-U003", folder.toString(), "devices are served there already")
                .fix("name a program after '--', or another folder with --at"));
      }
      return end(execute(context, environment));
    }
    return end(serve(context, hcas, folder, environment));
  }

  private static Path usual() {
    String runtime = System.getenv("XDG_RUNTIME_DIR");
    return runtime == null
        ? Path.of(
            System.getProperty("java.io.tmpdir"), "doorbell-hca-" + System.getProperty("user.name"))
        : Path.of(runtime, "doorbell-hca");
  }

  private static ExitCode end(int status) {
    if (status != 0) {
      throw new ProgramExit(status);
    }
    return ExitCode.OK;
  }

  /** Serves while the program runs, and then until nobody has a device open any more. */
  private int serve(
      CommandContext context, ProgramHcas hcas, Path folder, Map<String, String> environment)
      throws EnvironmentException {
    Serving serving = new Serving();
    try (ProgramDevices served = hcas.serve(folder, devices)) {
      Thread server = new Thread(() -> served.run(() -> serving.isOver(served, context)), "hca");
      server.start();
      try {
        if (program.isEmpty()) {
          environment.forEach(
              (name, value) -> context.terminal().out().printf("export %s=%s%n", name, value));
          context.terminal().out().flush();
          return 0;
        }
        return execute(context, environment);
      } finally {
        serving.programEnded = !program.isEmpty();
        join(server);
      }
    }
  }

  /** When the devices are needed no longer. */
  private static final class Serving {
    private volatile boolean programEnded;

    boolean isOver(ProgramDevices served, CommandContext context) {
      return context.interruption().requested() || (programEnded && served.connections() == 0);
    }
  }

  private static void join(Thread thread) {
    boolean interrupted = false;
    while (true) {
      try {
        thread.join();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private int execute(CommandContext context, Map<String, String> environment)
      throws EnvironmentException {
    ProcessBuilder builder = new ProcessBuilder(program).inheritIO();
    builder.environment().putAll(environment);
    Process process;
    try {
      process = builder.start();
    } catch (IOException e) {
      throw new EnvironmentException(
          Problem.of(
                  "DB-E050", program.getFirst(), "the program cannot be started: " + e.getMessage())
              .fix("check its name; ibverbs-utils has ibv_devinfo, perftest has ib_write_bw"));
    }
    try {
      while (!process.waitFor(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
        if (context.interruption().requested()) {
          process.destroy();
        }
      }
    } catch (InterruptedException e) {
      process.destroy();
      Thread.currentThread().interrupt();
    }
    return process.isAlive() ? ExitCode.INTERRUPTED.status() : process.exitValue();
  }
}
