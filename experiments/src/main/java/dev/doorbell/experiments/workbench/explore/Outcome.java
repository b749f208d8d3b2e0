package dev.doorbell.experiments.workbench.explore;

import dev.doorbell.core.agent.SourcePlace;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How one run ended.
 *
 * @param races in the order of occurrence
 * @param failure a kernel that failed, hung or moved wrong bytes, or null
 * @param finished false if its time ran out, or if it was stopped at the first race
 * @param turns scheduling decisions
 * @param instructions executed by all threads
 * @param nanos wall time
 * @param fences those of the program that were executed
 * @param lastTurns a line for each of the last turns
 */
public record Outcome(
    List<Race> races,
    @Nullable Failure failure,
    boolean finished,
    long turns,
    long instructions,
    long nanos,
    List<Fence> fences,
    List<String> lastTurns) {
  /**
   * A fence.
   *
   * @param access {@code acq_rel.gpu}
   * @param system of scope sys
   * @param count number of executions
   */
  public record Fence(SourcePlace place, String access, boolean system, long count) {}

  /** Returns true if there is a race or a failure. */
  public boolean isFinding() {
    return !races.isEmpty() || failure != null;
  }
}
