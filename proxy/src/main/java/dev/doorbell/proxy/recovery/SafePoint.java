package dev.doorbell.proxy.recovery;

import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.queue.SafePointView;

/**
 * The host's side of a safe point (kernels/include/doorbell/safe_point.cuh): memory that a kernel's
 * posters and the host share. A kernel gets its address; epoch 0 is granted from the start.
 */
public final class SafePoint implements AutoCloseable {
  private final Memory shared;
  private final Memory posters;
  private final int count;
  private long epoch;

  /**
   * Allocates one.
   *
   * @param memory a GPU
   * @param posters threads of the grid
   */
  public SafePoint(MemoryProvider memory, int posters) {
    this.count = posters;
    this.posters =
        memory.allocate(
            MemoryKind.DEVICE, (long) posters * SafePointView.POSTER_BYTES, "posters' states");
    this.shared = memory.allocate(MemoryKind.DEVICE, SafePointView.BYTES, "safe point");
    shared.putLong(SafePointView.POSTERS, this.posters.address());
  }

  /** Address that kernels get. */
  public long address() {
    return shared.address();
  }

  void want() {
    shared.putLong(SafePointView.WANTED, epoch + 1);
  }

  /** Lets them go on, in the next epoch. */
  void grant() {
    epoch++;
    shared.putLong(SafePointView.WANTED, epoch);
    shared.putLong(SafePointView.GRANTED, epoch);
  }

  /** Lets them end: there is no next epoch. */
  void refuse() {
    shared.putLong(SafePointView.GRANTED, SafePointView.CLOSED);
  }

  /** True when a post or a wait of a poster has failed in this epoch. */
  boolean hasFailed() {
    for (int i = 0; i < count; i++) {
      long word = state(i);
      if (SafePointView.state(word) == SafePointView.FAILED
          && SafePointView.epoch(word) == epoch + 1) {
        return true;
      }
    }
    return false;
  }

  /** True when no thread posts: posters wait for the next epoch or have ended. */
  boolean isQuiet() {
    for (int i = 0; i < count; i++) {
      long word = state(i);
      boolean waits =
          SafePointView.state(word) != SafePointView.POSTING
              && SafePointView.epoch(word) == epoch + 1;
      if (!waits && SafePointView.state(word) != SafePointView.ENDED) {
        return false;
      }
    }
    return true;
  }

  /** Operations that all posters have posted. */
  public long posted() {
    long sum = 0;
    for (int i = 0; i < count; i++) {
      sum += posters.getLong((long) i * SafePointView.POSTER_BYTES + SafePointView.POSTER_POSTED);
    }
    return sum;
  }

  private long state(int poster) {
    return posters.getLong((long) poster * SafePointView.POSTER_BYTES + SafePointView.POSTER_STATE);
  }

  @Override
  public void close() {
    shared.close();
    posters.close();
  }
}
