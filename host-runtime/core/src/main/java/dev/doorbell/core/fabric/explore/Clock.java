package dev.doorbell.core.fabric.explore;

import java.util.Arrays;

/**
 * A vector clock: for every actor the last of its epochs that is known. Dense, since joining a
 * thousand ints takes a vector unit a tenth of a microsecond.
 */
final class Clock {
  private int[] epochs;

  Clock() {
    this(new int[8]);
  }

  private Clock(int[] epochs) {
    this.epochs = epochs;
  }

  int get(int actor) {
    return actor < epochs.length ? epochs[actor] : 0;
  }

  boolean covers(int actor, int epoch) {
    return actor < epochs.length && epochs[actor] >= epoch;
  }

  void set(int actor, int epoch) {
    if (actor >= epochs.length) {
      epochs = Arrays.copyOf(epochs, Math.max(actor + 1, 2 * epochs.length));
    }
    epochs[actor] = epoch;
  }

  void join(Clock other) {
    int[] theirs = other.epochs;
    if (theirs.length > epochs.length) {
      epochs = Arrays.copyOf(epochs, theirs.length);
    }
    int[] mine = epochs;
    for (int i = 0; i < theirs.length; i++) {
      mine[i] = Math.max(mine[i], theirs[i]);
    }
  }

  Clock copy() {
    return new Clock(epochs.clone());
  }
}
