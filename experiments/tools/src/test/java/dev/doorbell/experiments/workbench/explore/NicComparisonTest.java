package dev.doorbell.experiments.workbench.explore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.adapter.Adapters;
import dev.doorbell.experiments.workbench.explore.Nic.Remedy;
import dev.doorbell.experiments.workbench.explore.NicComparison.Row;
import dev.doorbell.experiments.workbench.explore.NicComparison.Verdict;
import dev.doorbell.experiments.workbench.explore.Scenario.ScenarioException;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which remedies remove the findings of broken cases, adapter by adapter. */
class NicComparisonTest {
  private static final int SEEDS = 4;
  private static final Laboratory LABORATORY = new Laboratory();

  @ParameterizedTest
  @CsvSource({
    "adaptive-flag,  cx7,              CLEAN,   ''",
    "adaptive-flag,  cx7-ar,           FOUND,   fence-bit ordered-placement",
    "adaptive-flag,  cx8-ooo-rw,       FOUND,   fence-bit strict-key ordered-placement",
    "adaptive-flag,  relaxed-pcie,     FOUND,   strict-key",
    "last-word,      cx8-ooo-all,      FOUND,   strict-key ordered-placement",
    "refused-atomic, no-atomics,       REFUSED, atomics",
    "two-rails,      split-visibility, FOUND,   read-flush",
    "two-rails,      cx7,              CLEAN,   ''",
  })
  void a_broken_case_is_found_and_the_remedies_that_help_are_named(
      BugCase bug, String adapter, Verdict verdict, String remedies) throws ScenarioException {
    Row row =
        new NicComparison(LABORATORY, bug.scenario(LABORATORY.kernel(bug, false)))
            .explore(Nic.of(Adapters.named(adapter)), SEEDS, Scenarios.PLENTY);
    assertThat(row.verdict()).isEqualTo(verdict);
    assertThat(row.remedies().stream().map(Remedy::word))
        .containsExactlyElementsOf(
            remedies.isEmpty() ? List.of() : List.of(remedies.split(" ", -1)));
  }
}
