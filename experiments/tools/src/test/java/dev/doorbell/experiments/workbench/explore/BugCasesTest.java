package dev.doorbell.experiments.workbench.explore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.doorbell.experiments.workbench.explore.Scenario.ScenarioException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Public ordering bugs are found, and their fixed versions are not accused. */
class BugCasesTest {
  private static final int EVERYDAY = 2;
  private static final int SEEDS = 20;
  private static final long BUDGET_NANOS = 1_200_000_000_000L;

  private final Laboratory laboratory = new Laboratory();

  @ParameterizedTest
  @MethodSource("dev.doorbell.experiments.workbench.explore.BugCase#values")
  void the_broken_kernel_is_found_and_the_fixed_one_is_clean(BugCase bug) throws ScenarioException {
    expectFound(bug, EVERYDAY);
    expectClean(bug, EVERYDAY);
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("dev.doorbell.experiments.workbench.explore.BugCase#values")
  void the_broken_kernel_is_found_in_all_of_20_seeds(BugCase bug) throws ScenarioException {
    expectFound(bug, SEEDS);
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("dev.doorbell.experiments.workbench.explore.BugCase#values")
  void the_fixed_kernel_is_clean_in_all_of_20_seeds(BugCase bug) throws ScenarioException {
    expectClean(bug, SEEDS);
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("dev.doorbell.experiments.workbench.explore.BugCase#values")
  void what_is_wrong_on_some_adapters_only_is_hidden_in_all_of_20_seeds_on_others(BugCase bug)
      throws ScenarioException {
    assumeThat(bug.hides()).isTrue();
    Scenario broken = bug.scenario(laboratory.kernel(bug, false)).with(Nic.DEFAULT);
    Explorer.Report report = new Explorer(laboratory, broken).explore(SEEDS, BUDGET_NANOS);
    assertThat(report.isClean()).isTrue();
    assertThat(report.finished()).isEqualTo(SEEDS);
  }

  private void expectFound(BugCase bug, int seeds) throws ScenarioException {
    Explorer.Report report = explore(bug, false, seeds);
    assertThat(report.runs()).isEqualTo(seeds);
    assertThat(report.found()).as("%s", report.races()).isEqualTo(seeds);
  }

  private void expectClean(BugCase bug, int seeds) throws ScenarioException {
    Explorer.Report report = explore(bug, true, seeds);
    assertThat(report.races()).isEmpty();
    assertThat(report.failures()).isEmpty();
    assertThat(report.finished()).isEqualTo(seeds);
  }

  private Explorer.Report explore(BugCase bug, boolean fixed, int seeds) throws ScenarioException {
    return new Explorer(laboratory, bug.scenario(laboratory.kernel(bug, fixed)))
        .explore(seeds, BUDGET_NANOS);
  }
}
