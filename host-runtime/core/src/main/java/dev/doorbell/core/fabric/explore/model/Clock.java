package dev.doorbell.core.fabric.explore.model;

import java.util.Arrays;

/**
 * A vector clock: for every actor the last of its epochs that is known, and single writes of later
 * epochs. Dense, since joining a thousand ints takes a vector unit a tenth of a microsecond.
 */
public final class Clock {
  private int[] epochs;
  private Sightings sightings;

  public Clock() {
    this(new int[8], Sightings.NONE);
  }

  private Clock(int[] epochs, Sightings sightings) {
    this.epochs = epochs;
    this.sightings = sightings;
  }

  /** A strong load has seen {@code write}. */
  void saw(Write write) {
    if (!covers(write.actor.number, write.epoch)) {
      sightings = sightings.with(write, this);
    }
  }

  /** The number of the newest write of {@code address} that was seen; 0 where epochs tell. */
  public long seen(long address) {
    return sightings.isEmpty() ? 0 : sightings.order(address);
  }

  int get(int actor) {
    return actor < epochs.length ? epochs[actor] : 0;
  }

  public boolean covers(int actor, int epoch) {
    return actor < epochs.length && epochs[actor] >= epoch;
  }

  void set(int actor, int epoch) {
    if (actor >= epochs.length) {
      epochs = Arrays.copyOf(epochs, Math.max(actor + 1, 2 * epochs.length));
    }
    epochs[actor] = epoch;
  }

  void raise(int actor, int epoch) {
    if (get(actor) < epoch) {
      set(actor, epoch);
    }
  }

  public void join(Clock other) {
    int[] theirs = other.epochs;
    if (theirs.length > epochs.length) {
      epochs = Arrays.copyOf(epochs, theirs.length);
    }
    int[] mine = epochs;
    for (int i = 0; i < theirs.length; i++) {
      mine[i] = Math.max(mine[i], theirs[i]);
    }
    sightings = sightings.with(other.sightings, this);
  }

  Clock copy() {
    return new Clock(epochs.clone(), sightings.share());
  }
}
