package dev.doorbell.experiments.workbench.experts;

import java.util.List;
import java.util.Optional;

/**
 * The result of an {@link ExpertRun}.
 *
 * @param failure why it was stopped, or what was left otherwise than it should have been
 * @param phases that ended, in order
 */
public record ExpertOutcome(Optional<String> failure, List<Phase> phases) {
  public ExpertOutcome {
    phases = List.copyOf(phases);
  }

  /**
   * A kernel at all ranks.
   *
   * @param nanos on the fabric's clock
   * @param wallNanos of the run, verification included
   * @param instructions of all ranks
   */
  public record Phase(String name, long nanos, long wallNanos, long instructions) {}
}
