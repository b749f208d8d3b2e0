package dev.doorbell.experiments.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.config.Configs;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Estimates against a clock that says how long each point takes. */
class RunEstimateTest {
  @TempDir private Path folder;

  private static long guess(Point point) {
    return 20_000_000L * point.samples() / 5;
  }

  /** A point takes as long as its message is large, and far longer than is guessed. */
  private static long clock(Point point) {
    return 400_000_000L + 100_000L * Long.parseLong(point.text("size"));
  }

  @Test
  void without_past_runs_the_points_guess() throws Exception {
    Plan plan = Plan.of(Configs.read(Configs.SMALL));
    RunEstimate estimate = RunEstimate.refined(3, RunEstimateTest::guess, List.of());
    assertThat(estimate.runs()).isZero();
    assertThat(estimate.ofRun(plan.points(), 1))
        .isEqualTo(RunEstimate.AROUND_NANOS + 3 * 20_000_000L * plan.points().size());
    assertThat(estimate.ofRun(List.of(), 4)).isZero();
  }

  @Test
  void a_run_like_a_past_one_takes_what_that_took() throws Exception {
    RunIndex past = past(Configs.SMALL);
    long true5 = past.plan().points().stream().mapToLong(RunEstimateTest::clock).sum();
    RunEstimate estimate = RunEstimate.refined(1, RunEstimateTest::guess, List.of(past));
    assertThat(estimate.ofRun(past.plan().points(), 1)).isEqualTo(RunEstimate.AROUND_NANOS + true5);
    assertThat(
            RunEstimate.refined(4, RunEstimateTest::guess, List.of(past))
                .ofPoint(past.plan().points().get(0)))
        .isEqualTo(4 * clock(past.plan().points().get(0)));
  }

  @Test
  void a_point_with_another_setting_is_not_the_past_one() throws Exception {
    RunIndex past = past(Configs.SMALL);
    Plan other = Plan.of(Configs.read(Configs.SMALL, "window=32"));
    RunEstimate estimate = RunEstimate.refined(1, p -> 2 * guess(p), List.of(past));
    RunEstimate heavy =
        RunEstimate.refined(
            1, p -> p.text("window").equals("32") ? 20 * guess(p) : 2 * guess(p), List.of(past));
    assertThat(other.points().getFirst().id()).isEqualTo(past.plan().points().getFirst().id());
    assertThat(heavy.ofPoint(other.points().getFirst()))
        .isBetween(
            9 * estimate.ofPoint(other.points().getFirst()),
            11 * estimate.ofPoint(other.points().getFirst()));
  }

  @Test
  void other_points_of_an_experiment_are_within_twice_of_the_truth() throws Exception {
    RunIndex past = past(Configs.SMALL);
    Plan other =
        Plan.of(Configs.read(Configs.SMALL.replace("size: [64, 4K]", "size: [128, 1K, 2K, 8K]")));
    assertThat(other.points()).hasSizeGreaterThan(past.plan().points().size());
    long truth = other.points().stream().mapToLong(RunEstimateTest::clock).sum();
    long estimate =
        RunEstimate.refined(1, RunEstimateTest::guess, List.of(past)).ofRun(other.points(), 1);
    assertThat(estimate - RunEstimate.AROUND_NANOS).isBetween(truth / 2, truth * 2);
    assertThat(RunEstimate.refined(1, RunEstimateTest::guess, List.of()).ofRun(other.points(), 1))
        .as("the guess alone")
        .isLessThan(RunEstimate.AROUND_NANOS + truth / 2);
  }

  /** A finished run whose journal has the times of the clock. */
  private RunIndex past(String text) throws Exception {
    ExperimentConfig config = Configs.read(text);
    RunIndex run = RunIndex.read(Runs.make(folder, config).path());
    List<JournalEntry> timed =
        run.entries().stream()
            .map(
                entry ->
                    new JournalEntry(
                        entry.index(),
                        entry.point(),
                        entry.status(),
                        entry.basis(),
                        entry.samples(),
                        entry.sha256(),
                        entry.counters(),
                        entry.prediction(),
                        entry.verifiedBytes(),
                        entry.notes(),
                        entry.problem(),
                        entry.faults(),
                        clock(run.plan().points().get(entry.index())),
                        entry.attempt()))
            .toList();
    return new RunIndex(run.path(), run.plan(), run.manifest(), timed, run.damage());
  }
}
