package dev.doorbell.core.fabric.timed;

import org.jspecify.annotations.Nullable;

/** A block of threads: they are on one multiprocessor, and their warps share what it can store. */
final class Block {
  private final Place place;
  private final @Nullable Gate stores;
  private @Nullable Warp youngest;

  /** Those that have not ended. */
  private int threads;

  /**
   * @param bytesPerNano of its stores at most; 0: no bound
   */
  Block(Place place, double bytesPerNano) {
    this.place = place;
    this.stores = Gate.of(bytesPerNano);
  }

  /** The warp of the thread that comes next: they come in the order of their indices. */
  Warp enter() {
    Warp warp = youngest;
    if (warp == null || warp.full()) {
      warp = new Warp(place, stores);
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
