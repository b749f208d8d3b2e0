package dev.doorbell.core.fabric.explore.model;

import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The readers of a word that a later store must come after: one reader in place, a map when there
 * are more that do not know of each other.
 */
final class Readers {
  private @Nullable Reader only;
  private @Nullable SortedMap<Integer, Reader> many;

  private record Reader(
      Actor actor, int number, int epoch, long mask, int access, @Nullable Object at) {
    /** The reader after another load; what it has read since its last synchronization counts. */
    Reader then(Reader next) {
      long all = epoch == next.epoch ? mask | next.mask : next.mask;
      return new Reader(next.actor, number, next.epoch, all, next.access, next.at);
    }

    /** Visits the reader where {@code writer} does not know of it. */
    void visit(Actor writer, boolean onGpu, long bytes, Visitor visitor) {
      if (actor != writer && (mask & bytes) != 0 && !writer.knows(number, epoch, onGpu)) {
        visitor.reader(actor, access, at);
      }
    }
  }

  /** Hears of readers that a store does not come after. */
  interface Visitor {
    void reader(Actor actor, int access, @Nullable Object at);
  }

  void add(Actor actor, boolean onGpu, long bytes, int how, @Nullable Object where) {
    Reader now = new Reader(actor, actor.readNumber(), actor.readEpoch(), bytes, how, where);
    Reader other = only;
    SortedMap<Integer, Reader> all = many;
    if (all != null) {
      all.merge(now.number, now, Reader::then);
    } else if (other == null) {
      only = now;
    } else if (other.number == now.number) {
      only = other.then(now);
    } else if (bytes == other.mask && actor.knows(other.number, other.epoch, onGpu)) {
      only = now;
    } else {
      all = new TreeMap<>();
      all.put(other.number, other);
      all.put(now.number, now);
      many = all;
      only = null;
    }
  }

  /** Visits the readers of {@code bytes} that {@code writer} does not know of. */
  void unknownTo(Actor writer, boolean onGpu, long bytes, Visitor visitor) {
    if (only != null) {
      only.visit(writer, onGpu, bytes, visitor);
    } else if (many != null) {
      many.values().forEach(reader -> reader.visit(writer, onGpu, bytes, visitor));
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
