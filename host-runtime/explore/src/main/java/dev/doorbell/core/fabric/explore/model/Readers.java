package dev.doorbell.core.fabric.explore.model;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The readers of a word that a later store must come after: one reader in place, a table when there
 * are more that do not know of each other.
 */
final class Readers {
  private @Nullable Actor only;
  private int number;
  private int epoch;
  private long mask;
  private @Nullable Object at;
  private int access;
  private @Nullable Many many;

  /** More than one, by number. */
  private static final class Many {
    @Nullable Actor[] actors = new Actor[8];
    int[] epochs = new int[8];
    long[] masks = new long[8];
    @Nullable Object[] places = new Object[8];
    int[] accesses = new int[8];

    void put(Actor actor, int number, int epoch, long mask, int access, @Nullable Object at) {
      if (number >= epochs.length) {
        int length = Math.max(number + 1, 2 * epochs.length);
        actors = Arrays.copyOf(actors, length);
        epochs = Arrays.copyOf(epochs, length);
        masks = Arrays.copyOf(masks, length);
        places = Arrays.copyOf(places, length);
        accesses = Arrays.copyOf(accesses, length);
      }
      masks[number] = epochs[number] == epoch ? masks[number] | mask : mask;
      actors[number] = actor;
      epochs[number] = epoch;
      places[number] = at;
      accesses[number] = access;
    }
  }

  /** Hears of readers that a store does not come after. */
  interface Visitor {
    void reader(Actor actor, int access, @Nullable Object at);
  }

  void add(Actor actor, boolean onGpu, long bytes, int how, @Nullable Object where) {
    int reader = actor.readNumber();
    int now = actor.readEpoch();
    Many table = many;
    if (table != null) {
      table.put(actor, reader, now, bytes, how, where);
      return;
    }
    Actor other = only;
    boolean same = other != null && number == reader;
    if (other == null || same || (bytes == mask && actor.knows(number, epoch, onGpu))) {
      mask = same && epoch == now ? mask | bytes : bytes;
      only = actor;
      number = reader;
      epoch = now;
      at = where;
      access = how;
      return;
    }
    table = new Many();
    table.put(other, number, epoch, mask, access, at);
    table.put(actor, reader, now, bytes, how, where);
    many = table;
    only = null;
  }

  /** Visits the readers of {@code bytes} that {@code writer} does not know of. */
  void unknownTo(Actor writer, boolean onGpu, long bytes, Visitor visitor) {
    Actor one = only;
    if (one != null) {
      if (one != writer && (mask & bytes) != 0 && !writer.knows(number, epoch, onGpu)) {
        visitor.reader(one, access, at);
      }
      return;
    }
    Many table = many;
    if (table != null) {
      for (int i = 0; i < table.epochs.length; i++) {
        Actor actor = table.actors[i];
        if (actor != null
            && actor != writer
            && (table.masks[i] & bytes) != 0
            && !writer.knows(i, table.epochs[i], onGpu)) {
          visitor.reader(actor, table.accesses[i], table.places[i]);
        }
      }
    }
  }

  boolean isEmpty() {
    return only == null && many == null;
  }

  void clear() {
    only = null;
    many = null;
  }
}
