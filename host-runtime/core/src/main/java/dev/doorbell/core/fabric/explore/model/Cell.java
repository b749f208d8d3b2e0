package dev.doorbell.core.fabric.explore.model;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A word of 8 aligned bytes: what was written to it lately, and who read it weakly. */
public final class Cell {
  final long address;

  /** True for memory that lies in a GPU. */
  public final boolean onGpu;

  /** What it held before the oldest write that is remembered. */
  long base;

  public @Nullable Write newest;
  private int remembered;
  private long forgotten;
  private long orders;

  /** What the word is to a device, where it is a doorbell record. */
  @Nullable Region record;

  final Readers readers = new Readers();
  private @Nullable List<Watcher> watchers;

  Cell(long address, boolean onGpu, long base) {
    this.address = address;
    this.onGpu = onGpu;
    this.base = base;
  }

  long value() {
    Write write = newest;
    return write == null ? base : write.value;
  }

  /** Rises with every write. */
  public long order() {
    return orders;
  }

  /** The number of the next write. */
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

  /** Somebody whom the machine does not know stored here: the host, before or between launches. */
  void reset(long value) {
    newest = null;
    remembered = 0;
    forgotten = 0;
    orders++;
    base = value;
    readers.clear();
  }

  /** Waits for a store to a word. */
  @FunctionalInterface
  public interface Watcher {
    void stored();
  }
}
