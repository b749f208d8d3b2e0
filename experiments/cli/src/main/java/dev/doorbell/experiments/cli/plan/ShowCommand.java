package dev.doorbell.experiments.cli.plan;

import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.results.print.Screen;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Prints an experiment with overrides applied, sweeps expanded and its defaults written out.",
      "",
      "  doorbell show pull-vs-push",
      "  doorbell show my.yaml -s size=64,4K --points",
      ""
    })
public final class ShowCommand extends CliCommand {
  @Mixin private PlanOptions planOptions = new PlanOptions();
  @Mixin private UserKernels kernels = new UserKernels();

  @Parameters(paramLabel = "EXPERIMENT", description = "A name, or a file.")
  private String experiment = "";

  @Option(names = "--points", description = "List every point.")
  private boolean points;

  @Override
  public ExitCode run(CommandContext around) throws ProblemException {
    CommandContext context = kernels.join(around, experiment);
    ExperimentConfig config = kernels.read(context, experiment, planOptions.allOverrides());
    Plan plan = planOptions.plan(config);
    PlanChecks.demand(experiment, plan, context.runtime().get());
    long nanos = plan.points().stream().mapToLong(context.runtime().get()::estimateNanos).sum();
    String resolved =
        config.resolved(
            setting ->
                plan.points().stream()
                    .anyMatch(point -> context.runtime().get().uses(point, setting)));
    if (common().json()) {
      Map<String, Object> report = new LinkedHashMap<>();
      report.put("config_hash", config.hash());
      report.put("resolved", resolved);
      report.put("estimated_core_seconds", nanos / 1e9);
      report.put("points", plan.points().stream().map(Point::id).toList());
      Json.print(context, report);
      return ExitCode.OK;
    }
    context.out().print(resolved);
    if (points) {
      plan.points().forEach(point -> context.println("# point " + point.id()));
    }
    context.printf(
        "# %d points, %d excluded, about %s on one core, config %s%n",
        plan.points().size(), plan.excluded(), Screen.minutes(nanos), config.hash());
    return ExitCode.OK;
  }
}
