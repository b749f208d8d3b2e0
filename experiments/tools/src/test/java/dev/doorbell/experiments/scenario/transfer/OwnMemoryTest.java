package dev.doorbell.experiments.scenario.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.config.kernel.KernelDescriptorReader;
import dev.doorbell.experiments.kernels.UserKernel;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.SessionRuntime;
import dev.doorbell.kernels.KernelTemplates;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Kernels with settings, metrics and buffers of their own, verified by what they say. */
class OwnMemoryTest {
  private static ExperimentRuntime runtime(String template, UnaryOperator<String> change)
      throws ConfigException {
    var files = KernelTemplates.load().instantiate(template, "mine", "kernels/mine", "");
    String descriptor = Objects.requireNonNull(files.get("mine.kernel.yaml"));
    UserKernel kernel =
        new UserKernel(
            new KernelDescriptorReader().read("mine.kernel.yaml", change.apply(descriptor)),
            "mine.kernel.yaml",
            "mine.ptx",
            Objects.requireNonNull(files.get("mine.ptx")));
    return new SessionRuntime().with(List.of(kernel));
  }

  private static Point point(ExperimentRuntime runtime, String axes, String metrics)
      throws ConfigException {
    String config =
        """
        experiment: e
        question: q?
        kernel: mine
        axes: { %s }
        fixed: { ranks: 3, depth: 64 }
        measure: { metrics: %s, samples: 2, warmup: 1 }
        """
            .formatted(axes, metrics);
    return Plan.of(
            new ConfigReader(runtime.names(), runtime.extensions())
                .read("e.yaml", config, List.of()))
        .points()
        .getFirst();
  }

  private static PointResult run(
      String template, String axes, String metrics, UnaryOperator<String> change)
      throws ConfigException, PointFailure, EnvironmentException {
    ExperimentRuntime runtime = runtime(template, change);
    Point point = point(runtime, axes, metrics);
    assertThat(runtime.check(point)).isEmpty();
    return ProtocolsTest.run(runtime, point);
  }

  private static String mismatch(String template, UnaryOperator<String> change) {
    PointFailure failure =
        catchThrowableOfType(
            PointFailure.class, () -> run(template, "size: [64]", "[latency]", change));
    assertThat(failure.kind()).isEqualTo(PointFailure.Kind.MISMATCH);
    return failure.problem().what();
  }

  private static double[] values(PointResult result, String metric) {
    return result.samples().stream()
        .filter(samples -> samples.metric().equals(metric))
        .findFirst()
        .map(Samples::values)
        .orElseThrow();
  }

  @ParameterizedTest
  @CsvSource({"1, 64", "4, 64", "2, 1024"})
  void an_all_reduce_leaves_the_sum_at_every_rank_and_writes_its_metrics(int pieces, int size)
      throws ConfigException, PointFailure, EnvironmentException {
    PointResult result =
        run(
            "reduce",
            "pieces: [%d], size: [%d]".formatted(pieces, size),
            "[latency, bandwidth, waiting]",
            text -> text);
    assertThat(result.verifiedBytes()).as("every vector").isEqualTo(3L * 3 * size);
    double[] nanos = values(result, "latency");
    assertThat(values(result, "bandwidth"))
        .containsExactly(Arrays.stream(nanos).map(time -> 3.0 * size / time).toArray());
    assertThat(values(result, "waiting")).hasSize(2).doesNotContain(0.0);
  }

  @Test
  void metrics_across_ranks_are_one_sample_or_one_a_rank()
      throws ConfigException, PointFailure, EnvironmentException {
    double[][] samples = new double[3][];
    String[] ways = {"max", "all", "mean"};
    for (int i = 0; i < ways.length; i++) {
      String way = "across: " + ways[i];
      samples[i] =
          values(
              run(
                  "dispatch",
                  "size: [64]",
                  "[received]",
                  text -> text.replaceAll("(received: .*)across: max", "$1" + way)),
              "received");
    }
    assertThat(samples[0]).hasSize(2);
    assertThat(samples[1]).hasSize(3 * 2);
    assertThat(Arrays.stream(samples[1]).max()).hasValue(samples[0][0]);
    assertThat(samples[2]).as("4 tokens to 2 experts each, of 3 ranks").containsOnly(8.0);
  }

  @Test
  void a_dispatch_is_verified_by_an_entry_of_its_ptx()
      throws ConfigException, PointFailure, EnvironmentException {
    PointResult result =
        run(
            "dispatch",
            "token_count: [5], fanout: [3], hot: [50], size: [64]",
            "[slowest]",
            text -> text);
    assertThat(result.verifiedBytes())
        .isEqualTo(3L * (5 * 64 + 5 * 3 * 4 + 3 * 5 * 3 * 64 + 3 * 8));
    assertThat(
            mismatch(
                "dispatch",
                text ->
                    text.replace("fill: rank * 16777216 + i", "fill: i")
                        .replace("parameters: [size", "parameters: [token_count")))
        .contains("mine_check: received bytes differ", "(rank 2, number 16: 8 expected, 0 found)");
  }

  @Test
  void a_formula_that_the_kernel_does_not_fulfil_is_told_with_rank_and_number() {
    assertThat(mismatch("reduce", text -> text.replace("reduce: sum", "reduce: maximum")))
        .containsPattern(
            "rank 0, output\\(0\\): [0-9.]+ instead of maximum\\(p, ranks, input\\(p, i\\)\\) = ");
    assertThat(
            mismatch(
                "reduce",
                text ->
                    text.replace(
                        "reduce: sum, of: input, in: output",
                        "expect: { arriving: \"i == 0 ? arriving(rank, 0) : input(7, i)\" }")))
        .contains("input has no rank 7");
  }

  @Test
  void buffers_that_a_formula_makes_too_small_are_written_beside() {
    assertThat(
            mismatch(
                "reduce",
                text ->
                    text.replace(
                            "arriving: { type: f32, count: size / 4 * (ranks - 1) }",
                            "arriving: { type: f32, count: size / 4 * (ranks - 1), fill: 1.5 }")
                        .replace("in: output", "in: arriving")))
        .contains("arriving(0)");
    PointFailure failure =
        catchThrowableOfType(
            PointFailure.class,
            () ->
                run(
                    "reduce",
                    "size: [64]",
                    "[latency]",
                    text ->
                        text.replace(
                            "count: size / 4 * (ranks - 1)", "count: size / 4 * (ranks - 1) - 1")));
    assertThat(failure.problem().what()).isNotEmpty();
  }

  @Test
  void sizes_that_come_to_nothing_are_refused_before_anything_runs() throws ConfigException {
    ExperimentRuntime runtime =
        runtime("reduce", text -> text.replace("(ranks - 1)", "(ranks - 3)"));
    assertThat(runtime.check(point(runtime, "size: [64]", "[latency]")))
        .extracting(Problem::text)
        .singleElement()
        .asString()
        .contains("DB-P049", "buffer arriving has size / 4 * (ranks - 3) = 0 numbers");
  }
}
