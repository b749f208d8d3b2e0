package dev.doorbell.experiments.scenario.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.config.schema.Vocabulary;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.PointBench;
import dev.doorbell.experiments.scenario.SessionRuntime;
import dev.doorbell.experiments.scenario.training.TrainingKind.Backward;
import dev.doorbell.experiments.scenario.training.TrainingKind.Backward.Bucket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Buckets of gradients behind a backward pass. */
class TrainingPointTest {
  private final SessionRuntime runtime = new SessionRuntime();

  @TempDir private Path folder;

  private static Point point(String settings) throws ConfigException {
    String config =
        """
        experiment: e
        question: q?
        kernel: collective
        axes: { ranks: [2] }
        fixed: { threads: 32, algorithm: direct, %s }
        measure: { metrics: [step, exposed], warmup: 0, samples: 1 }
        """
            .formatted(settings);
    return Plan.of(new ConfigReader(Vocabulary.anything()).read("e.yaml", config, List.of()))
        .points()
        .getFirst();
  }

  private Map<String, Double> run(String settings) throws Exception {
    Point point = point(settings);
    assertThat(runtime.check(point)).isEmpty();
    PointResult result =
        runtime
            .runner(runtime.choose(new Environment.Request("auto", "auto", "virtual")))
            .run(point, new PointBench());
    assertThat(result.verifiedBytes()).isPositive();
    return result.samples().stream()
        .collect(Collectors.toMap(Samples::metric, samples -> samples.values()[0]));
  }

  private static double of(Map<String, Double> samples, String metric) {
    return Objects.requireNonNull(samples.get(metric), metric);
  }

  @Test
  void buckets_fill_in_the_order_of_the_gradients_and_a_large_layer_has_one_alone()
      throws ConfigException {
    Backward backward = Backward.read("f", "10 100 # the last layer\n\n20,100\n30 500\n40 100\n");
    assertThat(backward.nanos()).isEqualTo(100);
    assertThat(backward.buckets(200))
        .containsExactly(new Bucket(30, 208), new Bucket(60, 512), new Bucket(100, 112));
    assertThat(backward.buckets(1000)).containsExactly(new Bucket(100, 800));
    assertThat(Backward.uniform(4, 10, 4096).buckets(2048))
        .containsExactly(new Bucket(20, 2048), new Bucket(40, 2048));
  }

  @Test
  void all_but_the_last_bucket_hide_behind_layers_that_take_longer() throws Exception {
    Map<String, Double> hidden = run("layers: 4, layer_ns: 100000, size: 64K, bucket: 16K");
    Map<String, Double> one = run("layers: 4, layer_ns: 100000, size: 64K, bucket: 64K");
    assertThat(of(hidden, "exposed")).isBetween(1_000.0, 50_000.0).isLessThan(of(one, "exposed"));
    assertThat(of(hidden, "step")).isEqualTo(400_000 + of(hidden, "exposed"));
  }

  @Test
  void buckets_pile_up_behind_layers_that_take_no_time() throws Exception {
    Map<String, Double> four = run("layers: 4, layer_ns: 0, size: 8K, bucket: 2K");
    Map<String, Double> one = run("layers: 4, layer_ns: 0, size: 8K, bucket: 8K");
    assertThat(of(four, "exposed")).isGreaterThan(2 * of(one, "exposed"));
  }

  @Test
  void a_file_has_the_layers() throws Exception {
    Path file = folder.resolve("layers.txt");
    Files.writeString(file, "100000 2048\n5000 64\n");
    Map<String, Double> step = run("layers: 1, bucket: 2K, backward: %s".formatted(file));
    assertThat(of(step, "step")).isEqualTo(105_000 + of(step, "exposed"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "10 100;20|:2|1 numbers",
        "10 100;x 3|:2|'x' is no whole number",
        "10 -5|:1|'-5' is no whole number",
        "# nothing|:1|there is no layer in it"
      })
  void a_bad_file_of_layers_is_refused_by_line(String lines, String where, String what)
      throws Exception {
    Path file = folder.resolve("layers.txt");
    Files.writeString(file, lines.replace(';', '\n'));
    PointFailure failure =
        catchThrowableOfType(
            PointFailure.class, () -> run("layers: 1, backward: %s".formatted(file)));
    assertThat(failure.problem().code()).isEqualTo("DB-P036");
    assertThat(failure.problem().where()).endsWith("layers.txt" + where);
    assertThat(failure.problem().what()).isEqualTo(what);
  }

  @Test
  void impossible_points_are_refused_with_a_fix() throws Exception {
    List<Problem> problems = runtime.check(point("layers: 4, collective: reduce, root: 1"));
    assertThat(problems).extracting(Problem::code).contains("DB-P036");
    assertThat(problems.toString()).contains("leave collective out");
  }
}
