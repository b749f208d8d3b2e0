package dev.doorbell.experiments.cli.kernel;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.cli.kernel.KernelBuildCommand.KernelCompiler;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code doorbell kernel weight}. */
@CommandLine.Command(
    header = {
      "Says what carrying the device library costs a kernel that seldom posts, by nvcc and ptxas.",
      "",
      "  doorbell kernel weight                    32 and 128 live values, sm_90",
      "  doorbell kernel weight 64 --arch sm_100   another kernel, another GPU",
      "  doorbell kernel weight --measure 5        and its throughput, where there is a GPU",
      "",
      "A row is a kernel that computes or streams with so many values of 32 bits alive: without",
      "the library, with a put and a wait inlined, compiled apart, by light.cuh, bound to four",
      "registers more than without, and by exclusive.cuh. docs/performance.md says what was",
      "measured."
    })
final class KernelWeightCommand extends CliCommand {
  /** Exit status of the script where a tool is missing. */
  private static final int NO_TOOL = 7;

  private static final int MOST_LIVE = 240;

  @Parameters(paramLabel = "LIVE", description = "Values of 32 bits that are alive (32 128).")
  private List<Integer> live = List.of(32, 128);

  @Option(
      names = "--arch",
      paramLabel = "ARCH",
      defaultValue = "sm_90",
      description = "The GPU that ptxas compiles for (${DEFAULT-VALUE}).")
  private String arch = "";

  @Option(
      names = "--measure",
      paramLabel = "N",
      defaultValue = "0",
      description = "Runs of each row on this machine's GPU; 0: none (${DEFAULT-VALUE}).")
  private int runs;

  @Override
  public ExitCode run(CommandContext context) throws UsageException, EnvironmentException {
    if (!arch.matches("sm_[0-9]{2,3}[a-z]?")) {
      throw new UsageException(
          Problem.of("DB-U003", "--arch", "'%s' is no architecture such as sm_90".formatted(arch)));
    }
    if (live.stream().anyMatch(values -> values < 1 || values > MOST_LIVE) || runs < 0) {
      throw new UsageException(
          Problem.of("DB-U003", null, "%s live values, %d runs".formatted(live, runs))
              .fix("use 1 to %d live values, and 0 runs or more".formatted(MOST_LIVE)));
    }
    Path script = KernelCompiler.include().resolveSibling("weight");
    if (!Files.isRegularFile(script)) {
      throw new EnvironmentException(
          Problem.of("DB-K010", script.toString(), "there is no such file")
              .effect("nothing was compiled")
              .fix("use a checkout of Doorbell, which has the sources of its kernels"));
    }
    List<String> words = new ArrayList<>(List.of("bash", script.toString()));
    if (runs > 0) {
      words.addAll(List.of("--measure", Integer.toString(runs)));
    }
    words.add(arch);
    live.forEach(values -> words.add(values.toString()));
    return switch (printed(context, words)) {
      case 0 -> ExitCode.OK;
      case NO_TOOL -> ExitCode.ENVIRONMENT;
      default -> ExitCode.FAILED;
    };
  }

  /** Prints what a command prints, and returns its exit status. */
  private static int printed(CommandContext context, List<String> words)
      throws EnvironmentException {
    try {
      Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
      try (BufferedReader lines = process.inputReader()) {
        lines.lines().forEach(line -> context.terminal().out().println(line));
        return process.waitFor();
      } finally {
        process.destroy();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return 1;
    } catch (IOException e) {
      throw new EnvironmentException(
          Problem.of("DB-K010", "bash", "it cannot be started: " + e.getMessage())
              .effect("nothing was compiled"));
    }
  }
}
