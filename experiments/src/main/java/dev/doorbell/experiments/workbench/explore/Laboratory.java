package dev.doorbell.experiments.workbench.explore;

import java.util.List;
import java.util.Optional;

/** Runs a scenario against the adversary. Implemented where the back ends are wired together. */
public interface Laboratory {
  /** The names of the project's kernels. */
  List<String> kernels();

  /** A kernel of the project. */
  Optional<Scenario.Program> kernel(String name);

  /** A kernel of a case: the one that has the bug, or the fixed one. */
  Scenario.Program kernel(BugCase bug, boolean fixed);

  /**
   * Runs a scenario once; the same scenario and seed give the same run.
   *
   * @param extent how far
   * @throws ScenarioException when the scenario cannot run at all
   */
  default Outcome run(Scenario scenario, long seed, Extent extent) throws ScenarioException {
    return run(scenario, Schedule.of(scenario, seed, extent.turns()), extent);
  }

  /**
   * Runs a scenario with the choices of a schedule, but as far as {@code extent} says.
   *
   * @throws ScenarioException when the scenario cannot run at all
   */
  Outcome run(Scenario scenario, Schedule schedule, Extent extent) throws ScenarioException;

  /** What a fence costs by the price list, in nanoseconds, while stores are outstanding. */
  double fenceNanos(boolean system);

  /**
   * How far a run goes.
   *
   * @param nanos of wall time at most
   * @param turns scheduling decisions at most
   * @param told how many of the last turns are told
   */
  record Extent(long nanos, long turns, int told) {
    /** To its end, or until the time is over. */
    public static Extent of(long nanos) {
      return new Extent(nanos, Long.MAX_VALUE, 0);
    }
  }
}
