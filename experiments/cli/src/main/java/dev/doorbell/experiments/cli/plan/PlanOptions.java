package dev.doorbell.experiments.cli.plan;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.config.condition.PointCondition;
import dev.doorbell.experiments.plan.Plan;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that choose and change the points of an experiment. */
public final class PlanOptions {
  private static final int MOST_VALUES = 20;

  @Option(
      names = {"-s", "--set"},
      paramLabel = "KEY=VALUE",
      description = {
        "Change a setting; repeat for more. A comma makes a sweep:",
        "size=64,4K  size=pow2(8,1M)  qps=range(1,8)"
      })
  List<String> overrides = new ArrayList<>();

  @Option(
      names = "--only",
      paramLabel = "CONDITIONS",
      description = "Run a part of the plan, such as 'size<=4K,path=pull|push.bf'.")
  @Nullable String only;

  @Option(names = "--seed", paramLabel = "N", description = "Start of everything random.")
  @Nullable Long seed;

  @Option(
      names = "--hca",
      paramLabel = "HCA",
      description = {
        "soft, mlx5, or a device of this machine in NCCL's syntax:",
        "mlx5_0:1  =mlx5_1  ^mlx5_3  mlx5_0,mlx5_1"
      })
  @Nullable String hca;

  @Option(
      names = "--faults",
      paramLabel = "FILE",
      description = "Let go wrong what a fault plan says: see docs/faults.md.")
  @Nullable Path faults;

  public List<String> allOverrides() {
    List<String> all = new ArrayList<>(overrides);
    if (seed != null) {
      all.add("seed=" + seed);
    }
    if (hca != null) {
      all.add("hca=" + hca);
    }
    if (faults != null) {
      all.add("faults=" + faults.toAbsolutePath());
    }
    return all;
  }

  /** The plan of a config, or the part of it that was asked for. */
  public Plan plan(ExperimentConfig config) throws ConfigException {
    Plan plan = Plan.of(config);
    if (only == null) {
      return plan;
    }
    List<PointCondition> conditions = PointCondition.ofOption(only, config.settings());
    Plan part = plan.only(conditions);
    if (part.points().isEmpty() && !plan.points().isEmpty()) {
      throw new ConfigException(nothing(plan, conditions));
    }
    return part;
  }

  private Problem nothing(Plan plan, List<PointCondition> conditions) {
    String values =
        conditions.stream()
            .map(PointCondition::setting)
            .distinct()
            .map(
                setting ->
                    plan.points().stream()
                        .map(point -> point.text(setting))
                        .distinct()
                        .limit(MOST_VALUES)
                        .collect(Collectors.joining(", ", setting + " is ", "")))
            .collect(Collectors.joining("; "));
    return Problem.of("DB-C035", "--only " + only, "no point is left")
        .effect("nothing was run")
        .fix("in this plan " + values);
  }
}
