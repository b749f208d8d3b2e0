package dev.doorbell.core.fabric.explore.model;

import dev.doorbell.core.fabric.Access;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A word of 8 aligned bytes: what was written to it lately, and who read it weakly. */
public final class Cell {
  final long address;

  /** True for memory that lies in a GPU. */
  public final boolean onGpu;

  /** True for shared memory, which a block has after others: they have nothing in common. */
  final boolean ofBlock;

  /** Value before the oldest write that is remembered. */
  long base;

  public @Nullable Write newest;
  private int remembered;
  private long forgotten;
  private long orders;

  /** The word's role for a device, where it is a doorbell record. */
  @Nullable Region record;

  final Readers readers = new Readers();
  private @Nullable Readers strongReaders;
  private @Nullable List<Watcher> watchers;

  Cell(long address, boolean onGpu, boolean ofBlock, long base) {
    this.address = address;
    this.onGpu = onGpu;
    this.ofBlock = ofBlock;
    this.base = base;
  }

  /** Returns those who have read it strongly since its newest write. */
  Readers strongReaders() {
    Readers those = strongReaders;
    if (those == null) {
      those = new Readers();
      strongReaders = those;
    }
    return those;
  }

  long value() {
    Write write = newest;
    return write == null ? base : write.value;
  }

  /** Rises with every write. */
  public long order() {
    return orders;
  }

  long nextOrder() {
    return ++orders;
  }

  public void watch(Watcher watcher) {
    if (watchers == null) {
      watchers = new ArrayList<>();
    }
    watchers.add(watcher);
  }

  public void unwatch(Watcher watcher) {
    if (watchers != null) {
      watchers.remove(watcher);
    }
  }

  /** Tells those who wait for a store, once. */
  void stored() {
    List<Watcher> all = watchers;
    if (all != null) {
      watchers = null;
      for (Watcher watcher : all) {
        watcher.stored();
      }
    }
  }

  /**
   * Forgets writes behind the newest {@code kept}, but for the newest of any byte: what it hands on
   * is needed as long as it may be loaded.
   */
  void forget(int kept) {
    if (++remembered <= kept) {
      return;
    }
    long covered = 0;
    Write last = null;
    Write write = newest;
    for (int i = 0; write != null; i++) {
      if (last != null && i >= kept && (write.mask & ~covered) == 0) {
        last.before = write.before;
        base = (base & ~write.mask) | (write.value & write.mask);
        forgotten |= write.mask;
        remembered--;
      } else {
        last = write;
      }
      covered |= write.mask;
      write = write.before;
    }
  }

  /** True when writes of these bytes were forgotten: what was there before means nothing more. */
  boolean hasForgotten(long mask) {
    return (forgotten & mask) != 0;
  }

  /**
   * A store from outside of the machine was made here: by a host.
   *
   * @param host that acts while agents go on, so that its store hands on what it knows, and what
   *     the writes handed on that it replaces; null for one that acts before or between launches
   */
  void reset(long value, @Nullable Actor host) {
    Release[] handedOn = null;
    for (Write write = newest; write != null && host != null; write = write.before) {
      for (int i = 0; write.releases != null && i < write.releases.length; i++) {
        handedOn = Release.add(handedOn, write.releases[i]);
      }
    }
    newest =
        host == null
            ? null
            : new Write(
                this,
                orders + 1,
                value,
                -1,
                host,
                0,
                Access.RELEASE | Access.SYS,
                null,
                handedOn,
                null);
    remembered = host == null ? 0 : 1;
    forgotten = 0;
    orders++;
    base = value;
    readers.clear();
  }

  @FunctionalInterface
  public interface Watcher {
    void stored();
  }

  /** Parts of words of 8 aligned bytes. */
  public static final class Words {
    private Words() {}

    /**
     * Returns the number of bits by which the bytes at {@code address} are shifted in their word.
     */
    public static int shift(long address) {
      return (int) (address & (Long.BYTES - 1)) * Byte.SIZE;
    }

    /** All ones in {@code bytes} bytes. */
    public static long ones(int bytes) {
      return bytes == Long.BYTES ? -1L : (1L << (bytes * Byte.SIZE)) - 1;
    }

    /** Bytes of the next access to a range: as many as an aligned word of 8, 4, 2 or 1 holds. */
    public static int piece(long address, int left) {
      int piece = Long.BYTES;
      while (piece > left || (address & (piece - 1)) != 0) {
        piece /= 2;
      }
      return piece;
    }
  }

  /** One write of a word of 8 bytes, or a part of it, and what it hands on. */
  public static final class Write {
    final Cell cell;

    /** Number among the word's writes, from 1. */
    public final long order;

    /** The word after it. */
    public final long value;

    /** All ones in the bytes that it wrote. */
    final long mask;

    public final Actor actor;
    public final int epoch;
    public final int access;
    public final @Nullable Object at;
    public Release @Nullable [] releases;
    public @Nullable Write before;

    /** True once the clock of a host has joined {@link #releases}: its store has been read. */
    boolean isTaken;

    /** Counts a host's acts before a store that it may load; the largest number for others. */
    int hostActs = Integer.MAX_VALUE;

    Write(
        Cell cell,
        long order,
        long value,
        long mask,
        Actor actor,
        int epoch,
        int access,
        @Nullable Object at,
        Release @Nullable [] releases,
        @Nullable Write before) {
      this.cell = cell;
      this.order = order;
      this.value = value;
      this.mask = mask;
      this.actor = actor;
      this.epoch = epoch;
      this.access = access;
      this.at = at;
      this.releases = releases;
      this.before = before;
    }
  }
}
