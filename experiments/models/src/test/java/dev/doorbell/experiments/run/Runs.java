package dev.doorbell.experiments.run;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointRunner;
import dev.doorbell.experiments.run.RunExecution.RunListener;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Finished runs for tests of what reads them. */
public final class Runs {
  private Runs() {}

  /** Runs a config in the world without GPUs. */
  public static StoredRun make(Path parent, ExperimentConfig config) throws RunException {
    return make(parent, config, new FakeRuntime().runner);
  }

  /** The same with points that somebody else runs. */
  public static StoredRun make(Path parent, ExperimentConfig config, PointRunner runner)
      throws RunException {
    FakeRuntime runtime = new FakeRuntime();
    Plan plan = Plan.of(config);
    try (RunDirectory directory =
        RunDirectory.prepare(new Disk(), parent, config, Instant.parse("2026-01-01T00:00:00Z"))) {
      Environment environment = runtime.choose(new Environment.Request("auto", "auto", "auto"));
      new Manifest(
              "0",
              directory.id(),
              config.name(),
              config.hash(),
              List.of(),
              List.of(),
              PointSchedule.of(plan, false),
              Manifest.State.RUNNING,
              Instant.parse("2026-01-01T00:00:00Z"),
              null,
              1,
              plan.points().size(),
              0,
              environment,
              environment.basis(),
              Machine.here(),
              List.of(),
              List.of())
          .write(directory);
      directory.publish();
      new RunExecution(
              directory,
              runner,
              runtime::predict,
              RunListener.SILENT,
              new Interruption(),
              new RunExecution.Limits(1, false, Point::timeout, Duration.ofSeconds(30), 0))
          .run(plan.points());
      return StoredRun.read(directory.path());
    } catch (EnvironmentException e) {
      throw new AssertionError(e);
    }
  }
}
