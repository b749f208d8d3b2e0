package dev.doorbell.core.fabric.explore;

import dev.doorbell.core.fabric.MmioTarget;
import dev.doorbell.core.fabric.explore.model.Actor;
import dev.doorbell.core.fabric.explore.model.Release;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** Stores to the registers of a device that have left their threads and not arrived yet. */
final class Arrivals {
  /** Bytes that a write-combining buffer sends as one. */
  static final int BLOCK = 64;

  /** A buffer that nothing fills leaves at last. */
  private static final int HELD_TURNS = 256;

  private final ArrayDeque<Arrival> waiting = new ArrayDeque<>();

  /** One write transaction. */
  static final class Arrival {
    final Actor actor;
    final MmioTarget target;
    final long address;
    final int access;
    final @Nullable Object at;
    final long[] words = new long[BLOCK / Long.BYTES];
    int bytes;
    Release @Nullable [] releases;

    /** True while a write-combining buffer waits for the rest of a block. */
    boolean combining;

    /** The turn of its last store. */
    long turn;

    Arrival(Actor actor, MmioTarget target, long address, int access, @Nullable Object at) {
      this.actor = actor;
      this.target = target;
      this.address = address;
      this.access = access;
      this.at = at;
    }
  }

  void add(Arrival arrival) {
    waiting.add(arrival);
  }

  int size() {
    return waiting.size();
  }

  Arrival take() {
    return waiting.remove();
  }

  /** How many may arrive: a block that is being combined holds up what is behind it. */
  int ready(long turn) {
    int ready = 0;
    for (Arrival arrival : waiting) {
      if (arrival.combining && turn - arrival.turn < HELD_TURNS) {
        break;
      }
      ready++;
    }
    return ready;
  }
}
