package dev.doorbell.experiments.cli.plan;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.config.kernel.KernelDescriptor;
import dev.doorbell.experiments.fault.FaultFile;
import dev.doorbell.experiments.kernels.KernelFolders;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.results.print.Units;
import dev.doorbell.experiments.topology.TopologyFile;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Checks files that you write, and says everything that is wrong at once.",
      "",
      "  doorbell validate my.yaml other.yaml",
      "  doorbell validate kernels/my_put/my_put.kernel.yaml",
      "  doorbell validate topologies/my-machine.yaml lossy.yaml",
      ""
    })
public final class ValidateCommand extends CliCommand {
  private static final Pattern TOPOLOGY = Pattern.compile("(?m)^gpus\\s*:");
  private static final Pattern FAULTS = Pattern.compile("(?m)^faults\\s*:");
  private static final Pattern EXPERIMENT = Pattern.compile("(?m)^experiment\\s*:");

  @Mixin private UserKernels kernels = new UserKernels();

  @Parameters(paramLabel = "FILE", arity = "1..*", description = "Files, or names of experiments.")
  private List<String> files = new ArrayList<>();

  @Override
  public ExitCode run(CommandContext context) throws ProblemException {
    Map<String, Object> report = new LinkedHashMap<>();
    int errors = 0;
    for (String file : files) {
      List<Problem> problems = new ArrayList<>();
      int points = 0;
      try {
        if (file.endsWith(KernelDescriptor.ENDING)) {
          problems.addAll(KernelWorkbench.checkAbi(KernelFolders.read(Path.of(file))));
        } else if (isOf(file, TOPOLOGY)) {
          TopologyFile.load(file);
        } else if (isOf(file, FAULTS) && !isOf(file, EXPERIMENT)) {
          FaultFile.load(Path.of(file));
        } else {
          CommandContext joined = kernels.join(context, file);
          Plan plan = Plan.of(kernels.read(joined, file, List.of()));
          points = plan.points().size();
          String name = ExperimentFiles.find(file).name();
          problems.addAll(PlanChecks.problems(name, plan, joined.runtime().get()));
        }
      } catch (ConfigException e) {
        problems.addAll(e.problems());
      }
      errors += problems.size();
      if (common().json()) {
        report.put(file, problems);
      } else {
        problems.forEach(problem -> context.println(problem.text()));
        if (problems.isEmpty() && !common().quiet()) {
          context.println(
              points == 0 ? file + "  ok" : file + "  ok, " + Units.count(points, "point"));
        }
      }
    }
    if (common().json()) {
      Json.print(context, report);
    } else if (errors > 0) {
      context.printf("%d %s%n", errors, errors == 1 ? "error" : "errors");
    }
    return errors == 0 ? ExitCode.OK : ExitCode.CONFIG;
  }

  /**
   * Returns whether a file has a key that only one kind of file has; an unreadable one has none.
   */
  private static boolean isOf(String file, Pattern key) {
    try {
      return file.endsWith(".yaml") && key.matcher(Files.readString(Path.of(file))).find();
    } catch (IOException | InvalidPathException _) {
      return false;
    }
  }
}
