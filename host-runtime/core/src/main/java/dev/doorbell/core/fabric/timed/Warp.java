package dev.doorbell.core.fabric.timed;

import org.jspecify.annotations.Nullable;

/**
 * Threads that come to the gates of their GPU together: the load/store unit of a multiprocessor
 * takes an instruction of a warp as one, and the GPU sends what its lanes ask of a line as one
 * request (EMOGI, VLDB 2020; papers/h200-prices: 4-byte loads at 51.4 GB/s).
 */
final class Warp {
  private static final int LANES = 32;

  /** Those of the block's stores, and of all stores to and loads of the GPU's own memory. */
  final Gate.@Nullable Entry blockStores;

  final Gate.@Nullable Entry stores;
  final Gate.@Nullable Entry loads;
  private int lanes;

  /**
   * @param block what bounds the stores of the warp's block; null: nothing
   */
  Warp(Place place, @Nullable Gate block) {
    blockStores = entry(block);
    stores = entry(place.storeGate);
    loads = entry(place.loadGate);
  }

  private static Gate.@Nullable Entry entry(@Nullable Gate gate) {
    return gate == null ? null : gate.new Entry();
  }

  boolean full() {
    return lanes == LANES;
  }

  /** Another thread is of this warp; returns which lane. */
  int join() {
    return lanes++;
  }
}
