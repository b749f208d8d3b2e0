package dev.doorbell.core.fabric.timed.processor;

import org.jspecify.annotations.Nullable;

/** A block of threads: they run on one multiprocessor, whose stores have one bound. */
final class Block {
  private final @Nullable Gate blockStores;
  private final @Nullable Gate stores;
  private final @Nullable Gate loads;
  private @Nullable Warp youngest;

  /** Threads that have not ended. */
  private int threads;

  /** The gates are those of {@link Warp}. */
  Block(@Nullable Gate blockStores, @Nullable Gate stores, @Nullable Gate loads) {
    this.blockStores = blockStores;
    this.stores = stores;
    this.loads = loads;
  }

  /** The warp of the next thread; threads enter in the order of their indices. */
  Warp enter() {
    Warp warp = youngest;
    if (warp == null || warp.full()) {
      warp = new Warp(blockStores, stores, loads);
      youngest = warp;
    }
    threads++;
    return warp;
  }

  /** A thread has ended; true when it was the last one. */
  boolean leave() {
    return --threads == 0;
  }
}
