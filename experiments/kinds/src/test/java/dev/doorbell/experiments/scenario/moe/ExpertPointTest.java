package dev.doorbell.experiments.scenario.moe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

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

/**
 * Dispatch and combine in virtual time; every byte and every sum is compared by the point itself.
 */
class ExpertPointTest {
  private final SessionRuntime runtime = new SessionRuntime();
  @TempDir private Path folder;

  private static Point point(String settings) throws Exception {
    return point(settings, 64);
  }

  private static Point point(String settings, int threads) throws Exception {
    String config =
        """
        experiment: e
        question: q?
        kernel: moe
        axes: { threads: [%d] }
        fixed: { %s }
        measure: { metrics: [dispatch, combine], warmup: 0, samples: 1 }
        """
            .formatted(threads, settings);
    return Plan.of(new ConfigReader(Vocabulary.anything()).read("e.yaml", config, List.of()))
        .points()
        .getFirst();
  }

  private PointResult run(String settings) throws Exception {
    return runtime
        .runner(runtime.choose(new Environment.Request("auto", "auto", "virtual")))
        .run(point(settings), new PointBench());
  }

  @ParameterizedTest
  @CsvSource({
    "bytes,token,uniform,pull,64",
    "bytes,expert,zipf,pull.bf,48",
    "bf16,token,zipf,pull,16",
    "bf16,expert,uniform,pull,32",
    "fp8,token,uniform,pull.bf,128",
    "fp8,expert,zipf,pull,256"
  })
  void every_token_reaches_its_experts_and_comes_back(
      String element, String packing, String routing, String path, int hidden) throws Exception {
    int tokens = 5;
    int topk = 3;
    PointResult result =
        run(
            "ranks: 3, tokens: %d, topk: %d, experts: 6, hidden: %d, element: %s, packing: %s, routing: %s, path: %s"
                .formatted(tokens, topk, hidden, element, packing, routing, path));
    assertThat(result.samples())
        .allSatisfy(samples -> assertThat(samples.values()[0]).isPositive());
    assertThat(result.verifiedBytes()).isGreaterThan(3L * tokens * topk * 2 * hidden);
  }

  /** Two nodes of two: stores inside, puts between; three blocks a rank meet at barriers. */
  @ParameterizedTest
  @CsvSource({"bytes,expert,64", "bf16,token,64", "fp8,token,128", "fp8,expert,128"})
  void ranks_of_a_node_store_and_others_put(String element, String packing, int hidden)
      throws Exception {
    Path machine = folder.resolve("pairs.yaml");
    Files.writeString(
        machine, TopologyFile.text("h800-cx7").replace("ranks: {value: 8", "ranks: {value: 2"));
    assertThat(
            run("ranks: 4, tokens: 5, topk: 3, experts: 8, hidden: %d, element: %s, packing: %s, blocks: 3, placement: %s"
                    .formatted(hidden, element, packing, machine))
                .verifiedBytes())
        .isPositive();
  }

  @Test
  void a_block_has_whole_warps() throws Exception {
    Point point = point("ranks: 2, experts: 4, hidden: 32", 48);
    assertThat(runtime.check(point).toString()).contains("use a multiple of 32");
  }

  @Test
  void a_network_may_stand_between_the_ranks() throws Exception {
    assertThat(
            run("ranks: 4, tokens: 4, topk: 2, experts: 4, hidden: 64, network: leaf-spine, radix:"
                    + " 2, switch: pfc, cc: dcqcn")
                .verifiedBytes())
        .isPositive();
  }

  @Test
  void a_routing_file_names_the_experts_of_each_token() throws Exception {
    Path file = folder.resolve("routing.txt");
    Files.writeString(file, "# rank 0\n0 3\n1, 2\n\n# rank 1\n2 0  # both\n3 1\n9 9 9 unused\n");
    assertThat(
            run("ranks: 2, tokens: 2, topk: 2, experts: 4, hidden: 32, routing: %s".formatted(file))
                .verifiedBytes())
        .isPositive();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0 1;2 x;0 1;0 1 | :2 | 'x' is no whole number",
        "0 1;0 1;0 4;0 1 | :3 | expert 4 of 4",
        "0 1;0 -1;0 3;0 1 | :2 | expert -1 of 4",
        "0 1;0 1 2;0 3;0 1 | :2 | 3 experts",
        "0 1;1 1;0 3;0 1 | :2 | expert 1 twice",
        "0 1;0 2;0 3 | :3 | the file ends after 3 tokens of 4"
      })
  void a_bad_routing_file_is_refused_by_line(String lines, String where, String what)
      throws Exception {
    Path file = folder.resolve("routing.txt");
    Files.writeString(file, lines.replace(';', '\n'));
    PointFailure failure =
        catchThrowableOfType(
            PointFailure.class,
            () ->
                run(
                    "ranks: 2, tokens: 2, topk: 2, experts: 4, hidden: 32, routing: %s"
                        .formatted(file)));
    assertThat(failure.problem().code()).isEqualTo("DB-P034");
    assertThat(failure.problem().where()).endsWith("routing.txt" + where);
    assertThat(failure.problem().what()).isEqualTo(what);
    assertThat(failure.problem().fix()).isNotEmpty();
  }

  @Test
  void a_routing_file_that_is_missing_says_what_routing_is() throws Exception {
    PointFailure failure =
        catchThrowableOfType(
            PointFailure.class,
            () -> run("ranks: 2, tokens: 2, topk: 2, experts: 4, hidden: 32, routing: none.txt"));
    assertThat(failure.problem().what()).contains("none.txt cannot be read");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ranks: 3, experts: 4 | use a multiple of the ranks",
        "ranks: 2, experts: 4, topk: 5 | use a smaller topk",
        "ranks: 2, hidden: 100, element: fp8 | use a multiple of 128",
        "ranks: 2, path: push.inline | use pull or pull.bf"
      })
  void impossible_points_are_refused_with_a_fix(String settings, String fix) throws Exception {
    List<Problem> problems = runtime.check(point(settings));
    assertThat(problems).extracting(Problem::code).contains("DB-P034");
    assertThat(problems.toString()).contains(fix);
  }
}
