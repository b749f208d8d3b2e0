package dev.doorbell.experiments.cli.run;

import dev.doorbell.core.Basis;
import dev.doorbell.doctor.Diagnosis;
import dev.doorbell.doctor.catalogue.CheckResult;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointRunner;
import dev.doorbell.experiments.run.JournalEntry;
import dev.doorbell.experiments.run.Manifest;
import dev.doorbell.experiments.run.PointSchedule;
import dev.doorbell.experiments.run.RunDirectory;
import dev.doorbell.experiments.run.RunEstimate;
import dev.doorbell.experiments.run.RunIndex;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A run before its first point: what it runs, and on what.
 *
 * @param points those of the schedule that have no result yet
 * @param before the run that is resumed, or null
 * @param estimate how long points take
 */
record PreparedRun(
    CommandContext context,
    ExperimentRuntime runtime,
    ExperimentConfig config,
    Plan plan,
    Environment environment,
    PointSchedule schedule,
    List<Point> points,
    @Nullable RunIndex before,
    RunEstimate estimate) {
  private static final int MOST_NAMES = 8;

  static List<Point> remaining(List<Point> points, @Nullable RunIndex before) {
    if (before == null) {
      return points;
    }
    Set<String> finished = Set.copyOf(RunDirectory.finished(before.entries()));
    return points.stream().filter(point -> !finished.contains(point.id())).toList();
  }

  String again(RunIndex from) {
    Set<String> recorded =
        from.entries().stream().map(JournalEntry::point).collect(Collectors.toSet());
    long ended = points.stream().filter(point -> recorded.contains(point.id())).count();
    String names =
        points.stream().limit(MOST_NAMES).map(Point::id).collect(Collectors.joining(", "));
    return "resume   %d to run: %d failed or timed out before, %d without a sound result%s%s"
        .formatted(
            points.size(),
            ended,
            points.size() - ended,
            points.isEmpty() ? "" : ": " + names,
            points.size() > MOST_NAMES ? " and %d more".formatted(points.size() - MOST_NAMES) : "");
  }

  /** Returns what all points take one core, in nanoseconds; without an end on hardware. */
  long work() {
    return environment.basis() == Basis.MODELLED
        ? points.stream().mapToLong(estimate::ofPoint).sum()
        : Long.MAX_VALUE;
  }

  PointRunner runner() {
    return runtime.runner(environment);
  }

  /**
   * The doctor's findings for the manifest of a run. An emulated run loads no class of the doctor.
   */
  static final class DoctorFindings {
    private DoctorFindings() {}

    static List<Manifest.Diagnosed> of(Environment environment) {
      return environment.emulated()
          ? List.of()
          : Diagnosis.here().findings().stream().map(DoctorFindings::diagnosed).toList();
    }

    private static Manifest.Diagnosed diagnosed(CheckResult finding) {
      return new Manifest.Diagnosed(
          finding.code().id(), finding.verdict().name().toLowerCase(Locale.ROOT), finding.text());
    }
  }
}
