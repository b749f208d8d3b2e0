package dev.doorbell.experiments.scenario.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.config.schema.Vocabulary;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.PointBench;
import dev.doorbell.experiments.scenario.SessionRuntime;
import dev.doorbell.experiments.topology.TopologyFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Two nodes of two ranks, of which rank 1, its cable, its rail or a spine fails. */
class FailurePointTest {
  private static final double DEADLINE = 1_000_000;

  @TempDir private Path folder;
  private Path machine = Path.of("");

  @BeforeEach
  void machine() throws Exception {
    machine = folder.resolve("pairs.yaml");
    Files.writeString(
        machine, TopologyFile.text("h800-cx7").replace("ranks: {value: 8", "ranks: {value: 2"));
  }

  private Point point(String settings) throws ConfigException {
    String config =
        """
        experiment: e
        question: q?
        kernel: [collective, moe]
        axes: { ranks: [4] }
        fixed: { placement: %s, network: rails, radix: 2, spines: 2, switch: pfc, threads: 32, deadline: 1000000,
                 size: 16K, tokens: 4, topk: 2, experts: 8, hidden: 512, element: bytes, %s }
        measure: { metrics: [healthy, detect, probe, recover, degraded], warmup: 0, samples: 1 }
        """
            .formatted(machine, settings);
    return Plan.of(new ConfigReader(Vocabulary.anything()).read("e.yaml", config, List.of()))
        .points()
        .getFirst();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "all-reduce | rank | 3 | [1]",
        "all-reduce | link | 4 | [1]",
        "all-reduce | rail | 4 | [1, 3]",
        "dispatch | link | 1 | [1]",
      })
  void who_waits_ends_by_its_deadline_and_what_is_left_is_right(
      String operation, String fails, int noticed, String mute) throws Exception {
    PointResult result =
        run("operation: %s, fails: %s, fails_at: 5000".formatted(operation, fails));
    Map<String, double[]> samples = samples(result);
    assertThat(of(samples, "detect")).hasSizeGreaterThanOrEqualTo(noticed);
    // A kernel looks at its clock every 32nd time that it polls.
    assertThat(Arrays.stream(of(samples, "detect")).max().orElseThrow()).isLessThan(DEADLINE + 4e6);
    assertThat(of(samples, "recover")[0]).isGreaterThan(of(samples, "probe")[0]);
    assertThat(result.notes())
        .anyMatch(note -> note.startsWith("deadline passed at "))
        .contains("the probe hears nothing of ranks " + mute);
    assertThat(result.verifiedBytes()).isPositive();
  }

  @Test
  void no_kernel_notices_a_spine_that_fails() throws Exception {
    PointResult result = run("operation: dispatch, fails: spine, fails_at: 2000");
    Map<String, double[]> samples = samples(result);
    assertThat(samples).doesNotContainKeys("detect", "probe");
    assertThat(of(samples, "recover")[0]).isBetween(1e3, DEADLINE);
    assertThat(result.notes()).isEmpty();
  }

  @Test
  void a_failure_after_the_end_is_said() throws Exception {
    assertThat(catchThrowable(() -> run("operation: dispatch, fails: rank, fails_at: 900000")))
        .hasMessageContaining("ended within 900000 ns");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "fails: spine | use operation: dispatch",
        "fails: rank, buffers: in-place | leave collective and buffers out",
        "fails: rank, fails_at: 2000000 | use a larger deadline",
      })
  void impossible_points_are_refused_with_a_fix(String settings, String fix) throws Exception {
    List<Problem> problems = new SessionRuntime().check(point(settings));
    assertThat(problems).extracting(Problem::code).contains("DB-P035");
    assertThat(problems.toString()).contains(fix);
  }

  private static double[] of(Map<String, double[]> samples, String metric) {
    return Objects.requireNonNull(samples.get(metric), metric);
  }

  private static Map<String, double[]> samples(PointResult result) {
    return result.samples().stream().collect(Collectors.toMap(Samples::metric, Samples::values));
  }

  private PointResult run(String settings) throws Exception {
    Point point = point(settings);
    SessionRuntime runtime = new SessionRuntime();
    assertThat(runtime.check(point)).isEmpty();
    return runtime
        .runner(runtime.choose(new Environment.Request("auto", "auto", "virtual")))
        .run(point, new PointBench());
  }
}
