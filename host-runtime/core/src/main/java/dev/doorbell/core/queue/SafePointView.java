package dev.doorbell.core.queue;

import dev.doorbell.core.queue.generated.SafePointFields;

/** The words that the host reads and writes at a safe point. */
public final class SafePointView extends SafePointFields {
  private SafePointView() {}

  /** Returns the state in the word at {@link #POSTER_STATE}. */
  public static int state(long word) {
    return (int) word & ((1 << STATE_SHIFT) - 1);
  }

  /** The epoch in which it does so, or which it waits for. */
  public static long epoch(long word) {
    return word >>> STATE_SHIFT;
  }
}
