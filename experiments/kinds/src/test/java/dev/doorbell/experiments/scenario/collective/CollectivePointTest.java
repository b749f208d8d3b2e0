package dev.doorbell.experiments.scenario.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.config.schema.Vocabulary;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.scenario.PointBench;
import dev.doorbell.experiments.scenario.SessionRuntime;
import dev.doorbell.experiments.topology.TopologyFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Collectives in virtual time: every algorithm, every type, every element compared. */
class CollectivePointTest {
  @TempDir private Path folder;

  private static Point point(String settings) throws ConfigException {
    String config =
        """
        experiment: e
        question: q?
        kernel: collective
        axes: { size: [%s] }
        fixed: { %s }
        measure: { metrics: [collective, algbw, busbw], warmup: 0, samples: 2 }
        """
            .formatted(
                settings.substring(0, settings.indexOf(';')),
                settings.substring(settings.indexOf(';') + 1));
    return Plan.of(new ConfigReader(Vocabulary.anything()).read("e.yaml", config, List.of()))
        .points()
        .getFirst();
  }

  private static PointResult run(Point point) throws PointFailure, EnvironmentException {
    SessionRuntime runtime = new SessionRuntime();
    return runtime
        .runner(runtime.choose(new Environment.Request("auto", "auto", "virtual")))
        .run(point, new PointBench());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "all_reduce|ring|3|200|float|sum|out-of-place",
        "all_reduce|ring|3|8K|half|sum|in-place",
        "all_reduce|tree|5|4K|bfloat16|max|in-place",
        "all_reduce|tree|4|24|int32|min|out-of-place",
        "all_reduce|halving|5|4K|half|min|out-of-place",
        "all_reduce|halving|4|6|half|sum|in-place",
        "all_reduce|direct|3|4K|bfloat16|sum|in-place",
        "all_reduce|direct|3|8|float|sum|out-of-place",
        "reduce_scatter|ring|3|6K|int32|max|in-place",
        "reduce_scatter|halving|4|4K|float|sum|out-of-place",
        "reduce_scatter|direct|3|192|float|sum|out-of-place",
        "all_gather|ring|3|6K|float|sum|out-of-place",
        "all_gather|halving|4|4K|half|sum|in-place",
        "all_gather|direct|3|96|int32|sum|in-place",
        "broadcast|ring|3|4K|float|sum|out-of-place",
        "broadcast|tree|5|4K|float|sum|in-place",
        "reduce|ring|3|4K|float|sum|out-of-place",
        "reduce|tree|5|64|float|sum|in-place",
        "all_to_all|direct|3|6K|float|sum|out-of-place",
        "all_to_all_v|direct|3|6K|float|sum|out-of-place",
        "barrier|halving|5|4|float|sum|out-of-place",
      })
  void every_element_of_every_rank_is_right(
      String collective,
      String algorithm,
      int ranks,
      String size,
      String type,
      String redop,
      String buffers)
      throws Exception {
    int root = collective.startsWith("reduce") || collective.equals("broadcast") ? 1 : 0;
    Point point =
        point(
            ("%s;collective: %s, algorithm: %s, ranks: %d, datatype: %s, redop: %s, buffers: %s,"
                    + " root: %d, chunk: 1K, threads: 32")
                .formatted(size, collective, algorithm, ranks, type, redop, buffers, root));
    assertThat(new SessionRuntime().check(point)).isEmpty();
    PointResult result = run(point);
    assertThat(result.samples()).hasSize(3);
    double[] nanos = result.samples().getFirst().values();
    assertThat(nanos).hasSize(2);
    assertThat(nanos[0]).isBetween(1_000.0, 1e6);
    if (!collective.equals("barrier")) {
      assertThat(result.verifiedBytes()).isPositive();
    }
  }

  /** Two nodes of two. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "all_reduce|hierarchical|16|float|in-place",
        "all_reduce|hierarchical|6K|bfloat16|out-of-place",
        "all_reduce|ring|4K|half|out-of-place",
        "reduce_scatter|hierarchical|4K|int32|out-of-place",
        "all_gather|hierarchical|4K|float|in-place",
        "broadcast|hierarchical|4K|float|out-of-place",
        "reduce|hierarchical|4K|float|in-place",
        "all_to_all|hierarchical|64|float|out-of-place",
        "all_to_all|hierarchical|16K|float|out-of-place",
        "all_to_all_v|direct|4K|float|out-of-place",
      })
  void ranks_of_a_node_store_and_others_put(
      String collective, String algorithm, String size, String type, String buffers)
      throws Exception {
    Path machine = folder.resolve("pairs.yaml");
    Files.writeString(
        machine, TopologyFile.text("h800-cx7").replace("ranks: {value: 8", "ranks: {value: 2"));
    Point point =
        point(
            ("%s;collective: %s, algorithm: %s, ranks: 4, datatype: %s, buffers: %s,"
                    + " threads: 64, placement: %s")
                .formatted(size, collective, algorithm, type, buffers, machine));
    assertThat(new SessionRuntime().check(point)).isEmpty();
    assertThat(run(point).verifiedBytes()).isPositive();
  }

  /** 3 channels of 2 KiB or less, over puts and over stores; 32 are more than 96 bytes have. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "all_reduce|ring|6K|out-of-place|3|h200-cx7",
        "all_reduce|direct|6K|in-place|3|h800-cx7",
        "all_reduce|tree|96|out-of-place|32|h200-cx7",
        "broadcast|ring|6K|in-place|3|h200-cx7",
        "reduce|tree|6K|out-of-place|3|h800-cx7",
        "all_gather|ring|6K|out-of-place|3|h200-cx7",
        "reduce_scatter|direct|6K|in-place|3|h800-cx7",
        "all_reduce|nvls|6K|out-of-place|3|h800-cx7",
        "all_reduce|nvls|96|in-place|32|dgx-h100",
      })
  void channels_compute_what_one_does(
      String collective,
      String algorithm,
      String size,
      String buffers,
      int channels,
      String placement)
      throws Exception {
    Point point =
        point(
            ("%s;collective: %s, algorithm: %s, ranks: 3, buffers: %s, channels: %d,"
                    + " threads: 32, chunk: 1K, placement: %s")
                .formatted(size, collective, algorithm, buffers, channels, placement));
    assertThat(new SessionRuntime().check(point)).isEmpty();
    assertThat(run(point).verifiedBytes()).isPositive();
  }

  @Test
  void messages_of_several_blocks_have_one_channel() throws Exception {
    Point point = point("6K;collective: all_gather, algorithm: halving, ranks: 4, channels: 2");
    assertThat(new SessionRuntime().check(point))
        .extracting(Problem::text)
        .anyMatch(text -> text.contains("2 channels of all_gather"));
  }

  @ParameterizedTest
  @CsvSource({"float, 6K", "half, 6", "bfloat16, 6K"})
  void the_switch_of_a_node_adds_floats_of_every_type(String type, String size) throws Exception {
    String adds = "%s;ranks: 3, algorithm: nvls, placement: h800-cx7, threads: 32, datatype: %s";
    assertThat(run(point(adds.formatted(size, type))).verifiedBytes()).isPositive();
    PointFailure failure =
        catchThrowableOfType(
            PointFailure.class, () -> run(point(adds.formatted(size, type) + ", redop: max")));
    assertThat(failure.problem().code()).isEqualTo("DB-P031");
  }

  @Test
  void a_hierarchy_needs_nodes() throws Exception {
    PointFailure failure =
        catchThrowableOfType(
            PointFailure.class, () -> run(point("4K;ranks: 4, algorithm: hierarchical")));
    assertThat(failure.problem().code()).isEqualTo("DB-P031");
    assertThat(failure.problem().toString()).contains("nvlink:");
  }

  @ParameterizedTest
  @CsvSource({"inside", "apart"})
  void flags_may_be_inside_of_the_data_or_apart(String flags) throws Exception {
    assertThat(
            run(point(
                    "2K;ranks: 3, algorithm: ring, threads: 32, flags: %s, path: pull.bf"
                        .formatted(flags)))
                .verifiedBytes())
        .isEqualTo(2 * 3 * 2048);
  }

  @Test
  void one_message_with_its_flag_inside_is_faster_than_two_while_it_is_small() throws Exception {
    String settings = "64;ranks: 2, algorithm: direct, threads: 32, flags: ";
    double inside = run(point(settings + "inside")).samples().getFirst().values()[0];
    double apart = run(point(settings + "apart")).samples().getFirst().values()[0];
    assertThat(inside).isLessThan(apart);
  }

  @Test
  void the_choice_is_the_algorithm_whose_prediction_is_the_least_and_is_noted() throws Exception {
    PointResult result = run(point("64;ranks: 3, algorithm: auto, threads: 32"));
    assertThat(result.notes()).containsExactly("auto: direct");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "algorithm: tree, collective: all_gather|all_gather by tree among 3 ranks",
        "algorithm: halving, collective: all_gather|all_gather by halving among 3 ranks",
        "collective: broadcast, root: 3|root 3 of 3 ranks",
        "collective: all_to_all, buffers: in-place|all_to_all in place",
        "path: proxy|path proxy of a collective",
        "datatype: float, offset: 0|6 bytes of float",
      })
  void what_cannot_be_is_refused_by_name(String settings, String what) throws Exception {
    List<Problem> problems = new SessionRuntime().check(point("6;ranks: 3, " + settings));
    assertThat(problems).extracting(Problem::code).containsOnly("DB-P031");
    assertThat(problems).extracting(Problem::what).contains(what);
  }
}
