package dev.doorbell.core.fabric.explore;

import dev.doorbell.core.fabric.MmioTarget;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** Stores to the registers of a device that have left their threads and not arrived yet. */
final class Arrivals {
  /** Bytes that a write-combining buffer sends as one. */
  static final int BLOCK = 64;

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

  /** The newest, which a store of the same actor right behind it may join; or null. */
  @Nullable Arrival last() {
    return waiting.peekLast();
  }

  int size() {
    return waiting.size();
  }

  Arrival take() {
    return waiting.remove();
  }

  @Nullable Arrival first() {
    return waiting.peekFirst();
  }
}
