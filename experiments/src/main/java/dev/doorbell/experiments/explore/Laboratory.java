package dev.doorbell.experiments.explore;

import java.util.List;
import java.util.Optional;

/** Runs a scenario against the adversary. Implemented where the back ends are wired together. */
public interface Laboratory {
  /** The names of the project's kernels. */
  List<String> kernels();

  /** A kernel of the project. */
  Optional<Scenario.Program> kernel(String name);

  /**
   * Runs a scenario once; the same scenario and seed give the same run.
   *
   * @param atFirst stop at the first race
   * @param nanos of wall time at most
   * @throws ScenarioException when the scenario cannot run at all
   */
  Outcome run(Scenario scenario, long seed, boolean atFirst, long nanos) throws ScenarioException;
}
