package dev.doorbell.core.fabric.explore.model;

import dev.doorbell.core.fabric.explore.model.Cell.Write;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A vector clock: for every actor the last of its epochs that is known, and single writes of later
 * epochs. Epochs lie in pages, which copies share until one of them learns more: of thousands of
 * threads most know nothing but what their launch knew.
 */
public final class Clock {
  private static final int PAGE_SHIFT = 6;
  private static final int PAGE = 1 << PAGE_SHIFT;

  /** By the upper bits of an actor's number; null where no epoch is known. */
  private int[] @Nullable [] pages;

  /** Pages that no other clock has. */
  private boolean[] own;

  private Sightings sightings;

  /** Strong stores of scope sys that came before so many acts of a host are known. */
  private int hostActs;

  public Clock() {
    this(new int[1][], Sightings.NONE);
  }

  private Clock(int[] @Nullable [] pages, Sightings sightings) {
    this.pages = pages;
    this.own = new boolean[pages.length];
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

  /** A host has acted that often, and could have loaded what was stored until now. */
  void hostActed(int acts) {
    hostActs = Math.max(hostActs, acts);
  }

  /** True when {@code write} comes before, with all that its actor did before, or alone. */
  boolean knows(Write write) {
    return covers(write.actor.number, write.epoch)
        || seen(write.cell.address) >= write.order
        || write.hostActs < hostActs;
  }

  int get(int actor) {
    int index = actor >> PAGE_SHIFT;
    int[] page = index < pages.length ? pages[index] : null;
    return page == null ? 0 : page[actor & (PAGE - 1)];
  }

  public boolean covers(int actor, int epoch) {
    return get(actor) >= epoch;
  }

  void set(int actor, int epoch) {
    int index = actor >> PAGE_SHIFT;
    if (index >= pages.length) {
      grow(index + 1);
    }
    writable(index)[actor & (PAGE - 1)] = epoch;
  }

  private void grow(int length) {
    pages = Arrays.copyOf(pages, length);
    own = Arrays.copyOf(own, length);
  }

  private int[] writable(int index) {
    int[] page = pages[index];
    if (page == null || !own[index]) {
      page = page == null ? new int[PAGE] : page.clone();
      pages[index] = page;
      own[index] = true;
    }
    return page;
  }

  void raise(int actor, int epoch) {
    if (get(actor) < epoch) {
      set(actor, epoch);
    }
  }

  @SuppressWarnings("ReferenceEquality") // the same page is shared
  public void join(Clock other) {
    if (other.pages.length > pages.length) {
      grow(other.pages.length);
    }
    for (int i = 0; i < other.pages.length; i++) {
      int[] theirs = other.pages[i];
      if (theirs != null && theirs != pages[i]) {
        join(i, theirs, other);
      }
    }
    sightings = sightings.with(other.sightings, this);
    hostActs = Math.max(hostActs, other.hostActs);
  }

  private void join(int index, int[] theirs, Clock other) {
    if (pages[index] == null) {
      pages[index] = theirs;
      other.own[index] = false;
      return;
    }
    int[] mine = writable(index);
    for (int i = 0; i < PAGE; i++) {
      mine[i] = Math.max(mine[i], theirs[i]);
    }
  }

  public Clock copy() {
    Arrays.fill(own, false);
    Clock copy = new Clock(pages.clone(), sightings.share());
    copy.hostActs = hostActs;
    return copy;
  }

  /**
   * Writes that were seen by strong loads, and nothing else of what their actors did: the newest of
   * each word. PTX calls it observation; it comes before causality, so it travels with releases.
   *
   * <p>Tables are shared until one of those who have them sees more.
   */
  private static final class Sightings {
    static final Sightings NONE = new Sightings(2).share();

    private final @Nullable Write[] writes;
    private int used;
    private boolean shared;

    private Sightings(int capacity) {
      writes = new Write[capacity];
    }

    boolean isEmpty() {
      return used == 0;
    }

    /** The number of the newest write of {@code address} that was seen; 0 for none. */
    long order(long address) {
      Write write = writes[slot(writes, address)];
      return write == null ? 0 : write.order;
    }

    /** The same table, which is not changed any more. */
    Sightings share() {
      shared = true;
      return this;
    }

    /** This and {@code write}; what {@code known} covers is left out when the table is copied. */
    Sightings with(Write write, Clock known) {
      if (order(write.cell.address) >= write.order) {
        return this;
      }
      Sightings result = shared || 2 * (used + 1) > writes.length ? uncovered(known) : this;
      result.put(write);
      return result;
    }

    /** This and those of {@code others} that {@code known} does not cover. */
    Sightings with(Sightings others, Clock known) {
      if (others == this || others.isEmpty()) {
        return this;
      }
      Sightings result = this;
      for (Write write : others.writes) {
        if (write != null && !known.covers(write.actor.number, write.epoch)) {
          result = result.with(write, known);
        }
      }
      return result;
    }

    private Sightings uncovered(Clock known) {
      int left = 1;
      for (Write write : writes) {
        left += write != null && !known.covers(write.actor.number, write.epoch) ? 1 : 0;
      }
      Sightings copy = new Sightings(Math.max(8, Integer.highestOneBit(left) << 2));
      for (Write write : writes) {
        if (write != null && !known.covers(write.actor.number, write.epoch)) {
          copy.put(write);
        }
      }
      return copy;
    }

    private void put(Write write) {
      int slot = slot(writes, write.cell.address);
      used += writes[slot] == null ? 1 : 0;
      writes[slot] = write;
    }

    private static int slot(@Nullable Write[] writes, long address) {
      int mask = writes.length - 1;
      int slot = (int) (((address >>> 3) * 0x9e37_79b9_7f4a_7c15L) >>> 32) & mask;
      while (true) {
        Write write = writes[slot];
        if (write == null || write.cell.address == address) {
          return slot;
        }
        slot = (slot + 1) & mask;
      }
    }
  }
}
