package dev.doorbell.core.fabric.explore.model;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
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

  /** More than one: a table by number, half full at most. */
  private static final class Many {
    @Nullable Entry[] entries = new Entry[4];
    private int used;

    void put(Actor actor, int number, int epoch, long mask, int access, @Nullable Object at) {
      int slot = slot(entries, number);
      Entry entry = entries[slot];
      long all = entry != null && entry.epoch == epoch ? entry.mask | mask : mask;
      entries[slot] = new Entry(actor, number, epoch, all, access, at);
      if (entry == null && 2 * ++used > entries.length) {
        @Nullable Entry[] larger = new Entry[2 * entries.length];
        for (Entry each : entries) {
          if (each != null) {
            larger[slot(larger, each.number)] = each;
          }
        }
        entries = larger;
      }
    }

    private static int slot(@Nullable Entry[] in, int number) {
      int slot = (number * 0x9e37_79b9) >>> 16;
      for (; ; slot++) {
        Entry entry = in[slot & (in.length - 1)];
        if (entry == null || entry.number == number) {
          return slot & (in.length - 1);
        }
      }
    }
  }

  private record Entry(
      Actor actor, int number, int epoch, long mask, int access, @Nullable Object at) {}

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
      List<Entry> found = new ArrayList<>(0);
      for (Entry each : table.entries) {
        if (each != null
            && each.actor != writer
            && (each.mask & bytes) != 0
            && !writer.knows(each.number, each.epoch, onGpu)) {
          found.add(each);
        }
      }
      found.sort(Comparator.comparingInt(Entry::number));
      found.forEach(each -> visitor.reader(each.actor, each.access, each.at));
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
