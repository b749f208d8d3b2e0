package dev.doorbell.experiments.cli.claims;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.cli.plan.ExperimentFiles;
import dev.doorbell.experiments.cli.plan.PlanChecks;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.results.claims.ClaimChecker;
import dev.doorbell.experiments.results.claims.Expression;
import dev.doorbell.experiments.results.claims.MeasuredRun;
import dev.doorbell.experiments.run.PointWorkers;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/** Runs experiments for claims, in memory: what is kept is the finding. */
final class ClaimRuns implements ClaimChecker.Experiments {
  private final CommandContext context;

  ClaimRuns(CommandContext context) {
    this.context = context;
  }

  @Override
  public Expression.Names run(String experiment, SequencedMap<String, String> set)
      throws Expression.Unknown, EnvironmentException {
    ExperimentRuntime runtime = context.runtime().get();
    Plan plan = plan(runtime, experiment, set);
    ExperimentConfig config = plan.config();
    Environment environment =
        runtime.choose(new Environment.Request(config.gpu(), config.hca(), config.clock()));
    MeasuredRun run = new MeasuredRun(plan, environment.basis());
    try {
      PointWorkers.ofMachine(context.interruption())
          .run(plan.points(), runtime.runner(environment))
          .forEach(
              (point, ending) -> {
                switch (ending) {
                  case PointWorkers.Ending.Done(PointResult result) ->
                      run.add(point, result, runtime.predict(point));
                  case PointWorkers.Ending.Failed(PointFailure failure) ->
                      run.fail(point, failure.problem());
                }
              });
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      throw new Expression.Unknown("interrupted");
    }
    return run.names();
  }

  private Plan plan(ExperimentRuntime runtime, String experiment, Map<String, String> set)
      throws Expression.Unknown {
    List<String> overrides =
        set.entrySet().stream().map(e -> e.getKey() + "=" + e.getValue()).toList();
    try {
      Plan plan = Plan.of(ExperimentFiles.read(context, experiment, overrides));
      PlanChecks.demand(experiment, plan, runtime);
      return plan;
    } catch (ConfigException e) {
      throw new Expression.Unknown(
          "the experiment cannot be run so: " + problem(e.problems().getFirst()));
    } catch (UsageException e) {
      throw new Expression.Unknown(problem(e.problem()));
    }
  }

  private static String problem(Problem problem) {
    return "%s %s".formatted(problem.code(), problem.what());
  }
}
