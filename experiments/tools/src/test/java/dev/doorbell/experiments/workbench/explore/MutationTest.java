package dev.doorbell.experiments.workbench.explore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.explore.model.Policy;
import dev.doorbell.experiments.workbench.explore.Scenario.ScenarioException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A missing or narrowed order is found in every run, and what is still correct in none.
 *
 * <p>{@code -Dexplore.seeds=20} makes it more thorough.
 */
final class MutationTest {
  private static final int SEEDS = Integer.getInteger("explore.seeds", 3);

  @ParameterizedTest
  @CsvSource({
    // mutation, queues, batch, found in strict, found in vendor
    "NONE,                                  host, 4, no,  no",
    "NONE,                                  gpu,  4, yes, no",
    "FENCE_BEFORE_DOORBELL_REMOVED,         host, 4, yes, yes",
    "FENCE_BEFORE_DOORBELL_REMOVED,         gpu,  4, yes, yes",
    "FENCE_BEFORE_DOORBELL_NARROWED_TO_GPU, host, 4, yes, yes",
    "FENCE_BEFORE_DOORBELL_NARROWED_TO_CTA, gpu,  4, yes, yes",
    "FENCE_BEFORE_RECORD_REMOVED,           host, 4, yes, yes",
    "FENCE_BEFORE_RECORD_NARROWED_TO_GPU,   host, 4, yes, yes",
  })
  void a_broken_order_is_found_in_every_run_and_a_correct_one_in_none(
      Mutation mutation, String queues, int batch, String strict, String vendor)
      throws ScenarioException {
    Scenario base = Scenarios.of("put_rate").with(Scenarios.posting(queues, "gpu", batch));
    Scenario mutant = mutation.of(base);
    if (mutation != Mutation.NONE) {
      assertThat(mutant.program().ptx()).isNotEqualTo(base.program().ptx());
    }
    check(mutant.with(new Scenario.Rules(Policy.STRICT, true)), strict);
    check(mutant.with(new Scenario.Rules(Policy.VENDOR, true)), vendor);
  }

  private static void check(Scenario scenario, String expected) throws ScenarioException {
    Explorer.Report report = Scenarios.explore(scenario, SEEDS);
    assertThat(report.runs()).isEqualTo(SEEDS);
    assertThat(report.found())
        .as("runs with findings, policy %s: %s", scenario.rules().policy(), report.races())
        .isEqualTo(expected.equals("yes") ? SEEDS : 0);
  }
}
