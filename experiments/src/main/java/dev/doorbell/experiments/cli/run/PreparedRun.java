package dev.doorbell.experiments.cli.run;

import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointRunner;
import dev.doorbell.experiments.run.PointSchedule;
import dev.doorbell.experiments.run.RunDirectory;
import dev.doorbell.experiments.run.RunIndex;
import dev.doorbell.interop.job.JobRank;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A run before its first point: what it runs, and on what.
 *
 * @param points those of the schedule that have no result yet
 * @param before the run that is resumed, or null
 */
record PreparedRun(
    CommandContext context,
    ExperimentRuntime runtime,
    ExperimentConfig config,
    Plan plan,
    Environment environment,
    JobRank rank,
    PointSchedule schedule,
    List<Point> points,
    @Nullable RunIndex before) {
  PreparedRun(
      CommandContext context,
      ExperimentRuntime runtime,
      ExperimentConfig config,
      Plan plan,
      Environment environment,
      JobRank rank,
      PointSchedule schedule,
      @Nullable RunIndex before) {
    this(
        context,
        runtime,
        config,
        plan,
        environment,
        rank,
        schedule,
        remaining(schedule.points(plan), before),
        before);
  }

  private static List<Point> remaining(List<Point> points, @Nullable RunIndex before) {
    if (before == null) {
      return points;
    }
    Set<String> finished = Set.copyOf(RunDirectory.finished(before.entries()));
    return points.stream().filter(point -> !finished.contains(point.id())).toList();
  }

  PointRunner runner() {
    return runtime.runner(environment);
  }
}
