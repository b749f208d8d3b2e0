package dev.doorbell.core.fabric.timed.interconnect;

import dev.doorbell.core.fabric.timed.event.Simulation.Sleeper;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The sleepers that wait for a write, by the bytes: a hash table of 64-byte lines, chained, all in
 * arrays. It counts the watches of each page, too: most writes are to pages without a watch.
 */
public final class Watches {
  private static final int LINE_SHIFT = 6;
  private static final int BUCKETS_LOG = 10;
  private static final int WATCHES_OF_BUCKET = 4;
  private static final int PAGE_SHIFT = 12;
  private static final int PAGES_LOG = 12;
  private static final long SPREAD = 0x9e37_79b9_7f4a_7c15L;
  private static final int FEW_LINES = 128;
  private static final int END = -1;

  private int bucketsLog = BUCKETS_LOG;
  private int[] buckets = new int[1 << BUCKETS_LOG];

  private final int[] pages = new int[1 << PAGES_LOG];

  private long[] addresses = new long[64];
  private int[] lengths = new int[64];
  private @Nullable Sleeper[] sleepers = new Sleeper[64];
  private int[] next = new int[64];
  private int used;
  private int free = END;
  private int live;
  private Sleeper[] woken = new Sleeper[16];

  Watches() {
    Arrays.fill(buckets, END);
  }

  /** Adds a watch of an aligned cell of at most 16 bytes. */
  public void add(long address, int bytes, Sleeper sleeper) {
    int node = free;
    if (node == END) {
      if (used == addresses.length) {
        grow();
      }
      node = used++;
    } else {
      free = next[node];
    }
    if (live >= WATCHES_OF_BUCKET * buckets.length) {
      spread();
    }
    int bucket = bucket(address >>> LINE_SHIFT);
    addresses[node] = address;
    lengths[node] = bytes;
    sleepers[node] = sleeper;
    next[node] = buckets[bucket];
    buckets[bucket] = node;
    pages[page(address >>> PAGE_SHIFT)]++;
    live++;
  }

  /** Removes the watch that {@link #add} added. */
  @SuppressWarnings("ReferenceEquality") // threads are compared by identity
  public void remove(long address, Sleeper sleeper) {
    int bucket = bucket(address >>> LINE_SHIFT);
    int before = END;
    for (int node = buckets[bucket]; node != END; node = next[node]) {
      if (addresses[node] == address && sleepers[node] == sleeper) {
        if (before == END) {
          buckets[bucket] = next[node];
        } else {
          next[before] = next[node];
        }
        sleepers[node] = null;
        next[node] = free;
        free = node;
        pages[page(address >>> PAGE_SHIFT)]--;
        live--;
        return;
      }
      before = node;
    }
  }

  /** {@code [address, address + bytes)} was written at {@code time}: wakes who watches it. */
  void written(long address, long bytes, long time) {
    if (!isWatched(address, bytes)) {
      return;
    }
    long first = address >>> LINE_SHIFT;
    long last = (address + bytes - 1) >>> LINE_SHIFT;
    int count = 0;
    if (last - first < FEW_LINES) {
      for (long line = first; line <= last; line++) {
        count = collect(buckets[bucket(line)], address, bytes, count);
      }
    } else {
      for (int bucket : buckets) {
        count = collect(bucket, address, bytes, count);
      }
    }
    for (int i = 0; i < count; i++) {
      woken[i].wake(time);
    }
  }

  /** False when there is no watch on any page of {@code [address, address + bytes)}. */
  public boolean isWatched(long address, long bytes) {
    return live > 0 && watched(address >>> PAGE_SHIFT, (address + bytes - 1) >>> PAGE_SHIFT);
  }

  private int collect(int head, long address, long bytes, int count) {
    int found = count;
    for (int node = head; node != END; node = next[node]) {
      Sleeper sleeper = sleepers[node];
      if (sleeper != null
          && addresses[node] < address + bytes
          && address < addresses[node] + lengths[node]) {
        if (found == woken.length) {
          woken = Arrays.copyOf(woken, found * 2);
        }
        woken[found++] = sleeper;
      }
    }
    return found;
  }

  /** False when there is no watch on any of these pages. */
  private boolean watched(long first, long last) {
    if (last - first >= pages.length) {
      return true;
    }
    for (long page = first; page <= last; page++) {
      if (pages[page(page)] > 0) {
        return true;
      }
    }
    return false;
  }

  private static int page(long number) {
    return (int) ((number * SPREAD) >>> (Long.SIZE - PAGES_LOG));
  }

  private int bucket(long line) {
    return (int) ((line * SPREAD) >>> (Long.SIZE - bucketsLog));
  }

  /** Makes more buckets; the watches of a line stay in their order. */
  private void spread() {
    int[] old = buckets;
    bucketsLog++;
    buckets = new int[2 * old.length];
    Arrays.fill(buckets, END);
    int[] chain = new int[live];
    for (int head : old) {
      int length = 0;
      for (int node = head; node != END; node = next[node]) {
        chain[length++] = node;
      }
      while (length > 0) {
        int node = chain[--length];
        int bucket = bucket(addresses[node] >>> LINE_SHIFT);
        next[node] = buckets[bucket];
        buckets[bucket] = node;
      }
    }
  }

  private void grow() {
    int size = addresses.length * 2;
    addresses = Arrays.copyOf(addresses, size);
    lengths = Arrays.copyOf(lengths, size);
    sleepers = Arrays.copyOf(sleepers, size);
    next = Arrays.copyOf(next, size);
  }
}
