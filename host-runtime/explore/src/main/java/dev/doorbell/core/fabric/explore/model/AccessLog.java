package dev.doorbell.core.fabric.explore.model;

import org.jspecify.annotations.Nullable;

/** Hears of the accesses that others may notice, as they happen. */
public interface AccessLog {
  /** The key of the order of {@code fence.sc}. */
  long FENCES = -1;

  /**
   * True when a load repeats one that got the oldest value that it may have: that value again would
   * be nothing new.
   */
  boolean repeats(long key, @Nullable Object at);

  /**
   * Somebody reads.
   *
   * @param key the word's address
   * @param old it got a value that is older than the newest
   */
  void read(long key, boolean strong, boolean old, @Nullable Object at);

  /** Somebody writes, or looks for the newest value. */
  void wrote(long key, boolean strong, @Nullable Object at);
}
