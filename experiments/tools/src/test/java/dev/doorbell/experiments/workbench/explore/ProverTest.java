package dev.doorbell.experiments.workbench.explore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.fabric.explore.model.Policy;
import dev.doorbell.experiments.workbench.explore.Prover.Proof;
import dev.doorbell.experiments.workbench.explore.Scenario.ScenarioException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Small kernels are right in every execution, and a missing fence has a trace of few steps. */
final class ProverTest {
  /** One message of one thread, from the WQE's store to the finding. */
  private static final int FEW = 24;

  @ParameterizedTest
  @CsvSource({
    "post_once, 1, gpu, VENDOR",
    "put_quiet, 1, gpu, VENDOR",
    "put_rate, 1, host, STRICT",
    "put_bandwidth, 1, gpu, VENDOR",
    "put_exclusive, 1, host, STRICT",
    "put_light, 2, gpu, VENDOR",
    "put_price, 1, gpu, VENDOR",
    "put_batch, 1, host, STRICT",
    "operations, 1, gpu, VENDOR",
  })
  void a_kernel_is_proven_and_without_its_fences_has_a_shortest_trace(
      String kernel, int messages, String queues, Policy policy) throws ScenarioException {
    Scenario whole =
        Scenarios.of(kernel)
            .with(new Scenario.Load(1, 1, messages, 32, 1, 64, 0, "thread", "pull"))
            .with(Scenarios.posting(queues, "gpu", 4))
            .with(new Scenario.Rules(policy, true));
    Proof proof = prove(whole);
    assertThat(proof.violation()).isEmpty();
    assertThat(proof.complete()).isTrue();
    assertThat(proof.executions()).isPositive();
    Scenario.Program program = whole.program();
    String scope = queues.equals("gpu") ? "gpu" : "sys";
    String without = program.ptx().replace("fence.acq_rel.%s;".formatted(scope), "");
    assertThat(without).isNotEqualTo(program.ptx());
    Proof broken = prove(whole.with(program.with(without)));
    assertThat(broken.violation()).isPresent();
    assertThat(broken.minimal()).isTrue();
    assertThat(broken.complete()).as("no other execution has a shorter one").isTrue();
    Laboratory.Outcome outcome = broken.violation().orElseThrow();
    assertThat(outcome.races()).isNotEmpty();
    assertThat(outcome.lastTurns()).hasSizeBetween(1, FEW);
  }

  /** Two messages and a credit for each: some 33,000 executions. */
  @Test
  @Tag("slow")
  void a_credit_loop_of_two_messages_is_proven_and_without_a_credit_has_a_trace() throws Exception {
    Scenario.Shape shape =
        new Scenario.Shape(
            2,
            2,
            Scenario.Slots.THREADS,
            List.of(),
            0,
            0,
            false,
            List.of("queue_pairs", "job"),
            Optional.empty());
    String file = "orders.ptx";
    try (InputStream stream = Objects.requireNonNull(ProverTest.class.getResourceAsStream(file))) {
      String ptx = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
      Scenario fixed =
          Scenarios.of("put_rate")
              .with(new Scenario.Program(file, "credits_fixed", ptx, shape))
              .with(new Scenario.Load(1, 1, 2, 32, 1, 64, 0, "thread", "pull"));
      Prover whole = new Prover(Scenarios.LABORATORY, fixed);
      Proof proof = whole.prove(5 * Scenarios.PLENTY);
      assertThat(proof.violation()).isEmpty();
      assertThat(proof.complete()).isTrue();
      Proof broken = prove(fixed.with(new Scenario.Program(file, "credits_broken", ptx, shape)));
      assertThat(broken.violation().orElseThrow().lastTurns()).hasSizeBetween(1, FEW);
    }
  }

  @Test
  void a_budget_that_is_too_short_leaves_it_undecided() throws ScenarioException {
    Scenario scenario =
        Scenarios.of("put_latency")
            .with(new Scenario.Load(1, 1, 2, 32, 1, 64, 0, "thread", "pull"));
    Proof proof = new Prover(Scenarios.LABORATORY, scenario).prove(1);
    assertThat(proof.violation()).isEmpty();
    assertThat(proof.complete()).isFalse();
  }

  @Test
  void too_many_threads_are_refused() {
    assertThatThrownBy(() -> prove(Scenarios.of("put_rate").with(threads(64))))
        .isInstanceOf(ScenarioException.class)
        .hasMessageContaining("32 agents at most");
  }

  private static Scenario.Load threads(int threads) {
    return new Scenario.Load(1, threads, 1, 32, 1, 64, 0, "thread", "pull");
  }

  private static Proof prove(Scenario scenario) throws ScenarioException {
    return new Prover(Scenarios.LABORATORY, scenario).prove(Scenarios.PLENTY);
  }
}
