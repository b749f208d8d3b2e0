package dev.doorbell.experiments.scenario.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.config.kernel.KernelDescriptorReader;
import dev.doorbell.experiments.config.schema.Vocabulary;
import dev.doorbell.experiments.kernels.UserKernel;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.scenario.PointBench;
import dev.doorbell.experiments.scenario.SessionRuntime;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Which kernel of a point does what, and kernels that the user brought. */
class ProtocolsTest {
  private static final String SCALARS =
      """
      kernel: scalars
      description: a stream of puts that takes no job
      parameters: [queue_pairs, local, local_key, remote, remote_key, bytes, iterations, stamps, status]
      launch: { ranks: sender }
      paths: [pull, pull.bf]
      measures: goodput
      """;

  private final ExperimentRuntime runtime = new SessionRuntime();

  private static Point point(String kernels, String path, String metrics) throws ConfigException {
    String config =
        """
        experiment: e
        question: q?
        kernel: %s
        axes:
          size: [256]
        fixed: { path: %s }
        measure: { metrics: %s, samples: 2 }
        """
            .formatted(kernels, path, metrics);
    return Plan.of(new ConfigReader(Vocabulary.anything()).read("e.yaml", config, List.of()))
        .points()
        .getFirst();
  }

  private static UserKernel scalars(String descriptor) throws ConfigException {
    try (InputStream in =
        ProtocolsTest.class.getResourceAsStream("/dev/doorbell/experiments/kernels/scalars.ptx")) {
      return new UserKernel(
          new KernelDescriptorReader().read("scalars.kernel.yaml", descriptor),
          "scalars.kernel.yaml",
          "scalars.ptx",
          new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private List<String> complaints(ExperimentRuntime of, String kernels, String path, String metrics)
      throws ConfigException {
    return of.check(point(kernels, path, metrics)).stream()
        .map(problem -> problem.code() + " " + problem.what())
        .toList();
  }

  @Test
  void each_metric_needs_one_kernel_that_measures_it() throws ConfigException {
    assertThat(complaints(runtime, "[put_latency, put_bandwidth]", "pull", "[latency, goodput]"))
        .isEmpty();
    assertThat(complaints(runtime, "put_latency", "pull", "[latency, fences]"))
        .containsExactly("DB-P017 no kernel of put_latency measures fences");
    assertThat(complaints(runtime, "[put_rate, put_bandwidth]", "pull", "[goodput]"))
        .containsExactly("DB-P017 put_rate and put_bandwidth both measure goodput");
    assertThat(complaints(runtime, "post_once", "pull", "[latency]"))
        .containsExactly("DB-P017 no kernel of post_once measures latency");
    assertThat(complaints(runtime, "put_ltency", "pull", "[latency]"))
        .containsExactly("DB-P019 there is no kernel 'put_ltency'");
  }

  @Test
  void a_path_that_a_kernel_does_not_take_is_refused() throws ConfigException {
    assertThat(complaints(runtime, "put_rate", "staged", "[goodput]"))
        .containsExactly("DB-P018 kernel put_rate does not take the path staged");
    assertThat(complaints(runtime, "put_rate", "push.bf", "[goodput]"))
        .allSatisfy(text -> assertThat(text).doesNotContain("DB-P018"));
  }

  @Test
  void a_users_kernel_gets_fields_of_the_job_one_by_one_and_is_verified()
      throws ConfigException, PointFailure, EnvironmentException {
    ExperimentRuntime joined = runtime.with(List.of(scalars(SCALARS)));
    assertThat(complaints(joined, "scalars", "pull", "[goodput]")).isEmpty();
    PointResult result = run(joined, point("scalars", "pull", "[goodput, tlp.bytes]"));
    assertThat(result.samples().getFirst().metric()).isEqualTo("goodput");
    assertThat(result.samples().getFirst().values()).hasSize(2).doesNotContain(0.0);
    assertThat(result.verifiedBytes()).isEqualTo(2 * 256);
    assertThat(result.counters()).containsKey("tlp.bytes");
  }

  @Test
  void a_kernel_that_sends_something_else_is_caught() throws ConfigException {
    String swapped =
        SCALARS.replace(
            "local, local_key, remote, remote_key", "inbox, local_key, remote, remote_key");
    ExperimentRuntime joined = runtime.with(List.of(scalars(swapped)));
    PointFailure failure =
        catchThrowableOfType(
            PointFailure.class, () -> run(joined, point("scalars", "pull", "[goodput]")));
    assertThat(failure.problem().what()).contains("rank 0");
  }

  @Test
  void the_closed_forms_say_nothing_of_a_users_kernel() throws ConfigException {
    ExperimentRuntime joined = runtime.with(List.of(scalars(SCALARS)));
    assertThat(joined.predict(point("scalars", "pull", "[goodput]")).terms()).isEmpty();
    assertThat(joined.predict(point("put_latency", "pull", "[latency]")).terms()).isNotEmpty();
  }

  @Test
  void every_protocol_of_the_project_has_a_descriptor() {
    assertThat(runtime.catalogue().kernels())
        .extracting(entry -> entry.name())
        .contains("put_latency", "put_bandwidth", "put_rate", "post_once", "operations");
    assertThat(runtime.catalogue().kernels())
        .allSatisfy(entry -> assertThat(entry.text()).contains("measures").contains("paths"));
  }

  static PointResult run(ExperimentRuntime of, Point point)
      throws PointFailure, EnvironmentException {
    return of.runner(of.choose(new Environment.Request("auto", "auto", "virtual")))
        .run(point, new PointBench());
  }
}
