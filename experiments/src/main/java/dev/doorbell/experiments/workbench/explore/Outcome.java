package dev.doorbell.experiments.workbench.explore;

import dev.doorbell.core.agent.SourcePlace;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How one run ended.
 *
 * @param races in the order in which they came up
 * @param failure a kernel that failed, hung or moved wrong bytes, or null
 * @param finished false when its time was over, or when it was stopped at the first race
 * @param turns scheduling decisions
 * @param instructions executed by all threads
 * @param nanos wall time
 * @param fences those of the program that were executed
 * @param told the last turns, in words
 */
public record Outcome(
    List<Race> races,
    @Nullable Failure failure,
    boolean finished,
    long turns,
    long instructions,
    long nanos,
    List<Fence> fences,
    List<String> told) {
  /**
   * A fence.
   *
   * @param access {@code acq_rel.gpu}
   * @param system of scope sys
   * @param count times that it was executed
   */
  public record Fence(SourcePlace place, String access, boolean system, long count) {}

  /** True when anything is wrong. */
  public boolean isFinding() {
    return !races.isEmpty() || failure != null;
  }
}
