package dev.doorbell.experiments.workbench.explore;

import dev.doorbell.core.fabric.explore.model.Policy;
import dev.doorbell.experiments.workbench.explore.Scenario.ScenarioException;

/** The laboratory of this build, and scenarios to begin with. */
final class Scenarios {
  static final Laboratory LABORATORY = new Laboratory();

  /** More than any run here needs on a busy machine. */
  static final long PLENTY = 120_000_000_000L;

  private Scenarios() {}

  /** A kernel that threads of two blocks run, on a ring that they do not fill. */
  static Scenario of(String kernel) {
    return new Scenario(
        LABORATORY.kernel(kernel).orElseThrow(),
        new Scenario.Load(2, 4, 3, 32, 1, 64, 0, "thread", "pull"),
        new Scenario.Posting("gpu", "gpu", false, false, false, 4),
        new Scenario.Rules(Policy.VENDOR, true));
  }

  static Scenario.Posting posting(String queues, String ringer, int batch) {
    return new Scenario.Posting(queues, ringer, false, false, false, batch);
  }

  static Explorer.Report explore(Scenario scenario, int seeds) throws ScenarioException {
    return new Explorer(LABORATORY, scenario).explore(seeds, PLENTY);
  }
}
