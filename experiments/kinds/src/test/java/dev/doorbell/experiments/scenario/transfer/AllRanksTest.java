package dev.doorbell.experiments.scenario.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.config.kernel.KernelDescriptor.Verify;
import dev.doorbell.experiments.config.kernel.KernelDescriptorReader;
import dev.doorbell.experiments.config.schema.Vocabulary;
import dev.doorbell.experiments.kernels.UserKernel;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.scenario.SessionRuntime;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A user's kernel among as many ranks as the experiment says. */
class AllRanksTest {
  private static UserKernel collectives(String verify) throws ConfigException {
    String descriptor =
        """
        kernel: collectives
        description: messages among all ranks, by the pattern that the window names
        launch: { ranks: all }
        paths: [pull, proxy]
        measures: goodput
        verify: %s
        """
            .formatted(verify);
    try (InputStream in =
        AllRanksTest.class.getResourceAsStream(
            "/dev/doorbell/experiments/kernels/collectives.ptx")) {
      return new UserKernel(
          new KernelDescriptorReader().read("collectives.kernel.yaml", descriptor),
          "collectives.kernel.yaml",
          "collectives.ptx",
          new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ExperimentRuntime runtime(String verify) throws ConfigException {
    return new SessionRuntime().with(List.of(collectives(verify)));
  }

  private static Point point(String kernel, String fixed) throws ConfigException {
    String config =
        """
        experiment: e
        question: q?
        kernel: %s
        axes:
          size: [64]
        fixed: { %s }
        measure: { metrics: [goodput, tlp.bytes], samples: 1 }
        """
            .formatted(kernel, fixed);
    return Plan.of(new ConfigReader(Vocabulary.anything()).read("e.yaml", config, List.of()))
        .points()
        .getFirst();
  }

  private static PointResult run(String verify, String fixed)
      throws ConfigException, PointFailure, EnvironmentException {
    return ProtocolsTest.run(runtime(verify), point("collectives", fixed));
  }

  private static List<String> problems(String kernel, String fixed) throws ConfigException {
    return runtime("alltoall").check(point(kernel, fixed)).stream().map(Problem::what).toList();
  }

  @ParameterizedTest
  @CsvSource({
    "alltoall,  1, 2, pull",
    "alltoall,  1, 5, pull",
    "alltoall,  1, 3, proxy",
    "allgather, 2, 4, pull",
    "gather,    3, 4, pull",
    "shift,     4, 4, proxy",
    "shift,     4, 2, pull"
  })
  void what_every_rank_sends_is_compared_where_it_has_to_arrive(
      String verify, int pattern, int ranks, String path)
      throws ConfigException, PointFailure, EnvironmentException {
    PointResult result =
        run(verify, "path: %s, ranks: %d, window: %d".formatted(path, ranks, pattern));
    assertThat(result.samples().getFirst().values()).hasSize(1).doesNotContain(0.0);
    assertThat(result.verifiedBytes()).as("every inbox").isEqualTo(64L * ranks * ranks);
    assertThat(Objects.requireNonNull(result.counters().get("tlp.bytes")).value())
        .as("a message, not a turn")
        .isBetween(64.0, 2000.0);
  }

  @ParameterizedTest
  @CsvSource({
    "alltoall,  2", // the same message to all
    "allgather, 1", // another message to each
    "allgather, 3", // to rank 0 alone
    "gather,    4", // to the next rank alone
    "gather,    2", // to others than rank 0, too
    "shift,     3"
  })
  void a_kernel_that_sends_something_else_is_caught(String verify, int pattern)
      throws ConfigException {
    PointFailure failure =
        catchThrowableOfType(
            PointFailure.class,
            () -> run(verify, "path: pull, ranks: 4, window: %d".formatted(pattern)));
    assertThat(failure.kind()).isEqualTo(PointFailure.Kind.MISMATCH);
    assertThat(failure.problem().what())
        .matches("rank [0-3], byte -?[0-9]+ of the inbox: 0x.. instead of 0x..");
  }

  @Test
  void two_ranks_and_many_are_told_apart_before_anything_runs() throws ConfigException {
    assertThat(problems("collectives", "path: pull, ranks: 16")).isEmpty();
    assertThat(problems("collectives", "path: pull, ranks: 4, qps: 2"))
        .containsExactly("kernel collectives with 2 queue pairs");
    assertThat(problems("put_bandwidth", "path: pull, ranks: 4"))
        .containsExactly("ranks is 4, and kernel put_bandwidth runs at two");
    assertThat(problems("put_bandwidth", "path: pull, ranks: 2")).isEmpty();
  }

  @Test
  void as_many_messages_are_counted_as_arrive() {
    for (Verify verify : Verify.values()) {
      int ranks = verify.ofAll() ? 5 : 2;
      int arrive = 0;
      for (int from = 0; from < ranks; from++) {
        for (int to = 0; to < ranks; to++) {
          arrive += verify.arrives(from, to, ranks) ? 1 : 0;
        }
      }
      assertThat(verify.messages(ranks)).as("%s", verify).isEqualTo(arrive);
    }
  }
}
