package dev.doorbell.experiments.workbench.experts;

import dev.doorbell.experiments.workbench.explore.Race;
import java.util.List;
import java.util.Optional;

/**
 * The result of an {@link ExpertRun}.
 *
 * @param failure why it was stopped, or what was left otherwise than it should have been
 * @param phases that ended, in order
 * @param explored runs that came to their end; 0 without exploration
 * @param found explored runs that showed a race
 * @param races in the order of their first occurrence
 */
public record ExpertOutcome(
    Optional<String> failure, List<Phase> phases, int explored, int found, List<Found> races) {
  public ExpertOutcome {
    phases = List.copyOf(phases);
    races = List.copyOf(races);
  }

  /** An outcome of a run that explores nothing. */
  public ExpertOutcome(Optional<String> failure, List<Phase> phases) {
    this(failure, phases, 0, 0, List.of());
  }

  /** A race, and the number of explored runs that showed it. */
  public record Found(Race race, int runs) {}

  /**
   * A kernel at all ranks.
   *
   * @param nanos on the fabric's clock
   * @param wallNanos of the run, verification included
   * @param instructions of all ranks
   */
  public record Phase(String name, long nanos, long wallNanos, long instructions) {}
}
