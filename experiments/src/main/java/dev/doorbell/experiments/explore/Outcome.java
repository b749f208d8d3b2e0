package dev.doorbell.experiments.explore;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How one run ended.
 *
 * @param races in the order in which they came up
 * @param trouble a kernel that failed, hung or moved wrong bytes, in words, or null
 * @param finished false when its time was over, or when it was stopped at the first race
 * @param turns scheduling decisions
 * @param instructions executed by all threads
 * @param nanos wall time
 */
public record Outcome(
    List<Race> races,
    @Nullable String trouble,
    boolean finished,
    long turns,
    long instructions,
    long nanos) {
  /** True when anything is wrong. */
  public boolean isFinding() {
    return !races.isEmpty() || trouble != null;
  }
}
