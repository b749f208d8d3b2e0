package dev.doorbell.core.fabric.timed.interconnect;

import dev.doorbell.core.fabric.timed.event.Picos;
import dev.doorbell.core.fabric.timed.machine.CpuPrices.MemoryPrices;
import java.util.Iterator;
import java.util.LinkedHashMap;

/**
 * Host memory as the DMA of devices finds it: lines that the last-level cache holds, and pages
 * whose translation the IOMMU holds, both replaced least recently used first. All times are in
 * picoseconds.
 */
final class HostMemory {
  private static final int LINE_SHIFT = 6;

  private final MemoryPrices prices;
  private final int pageShift;
  private final long miss;
  private final long far;
  private final long walk;
  private final long walkInterval;
  private final Recent lines;
  private final Recent deviceLines;

  /** Each page's translation is there from the moment that it maps to. */
  private final Recent pages;

  private long walkFree;
  private long walkStarted;

  /** Keys that were used lately, with a value each. */
  private static final class Recent {
    private final LinkedHashMap<Long, Long> entries = new LinkedHashMap<>(16, 0.75f, true);
    private final long most;

    Recent(long most) {
      this.most = most;
    }

    void put(long key, long value) {
      entries.put(key, value);
      if (entries.size() > most) {
        Iterator<Long> oldest = entries.keySet().iterator();
        oldest.next();
        oldest.remove();
      }
    }

    /** The value of {@code key}, which counts as a use; negative where there is none. */
    long get(long key) {
      Long value = entries.get(key);
      return value == null ? -1 : value;
    }
  }

  HostMemory(MemoryPrices prices) {
    this.prices = prices;
    this.pageShift = Integer.numberOfTrailingZeros(prices.pageBytes());
    this.miss = Picos.of(prices.miss());
    this.far = Picos.of(prices.far());
    this.walk = Picos.of(prices.walk());
    this.walkInterval = Picos.of(prices.walkInterval());
    this.lines = new Recent(prices.cacheBytes() >>> LINE_SHIFT);
    this.deviceLines = new Recent(prices.deviceCacheBytes() >>> LINE_SHIFT);
    this.pages = new Recent(prices.translations());
  }

  /** When a read that arrives at {@code arrival} has found its data. */
  long read(long address, int bytes, long arrival) {
    long found = translated(address, bytes, arrival);
    if (!prices.caches()) {
      return found + far;
    }
    boolean missed = false;
    boolean elsewhere = false;
    for (long line = address >>> LINE_SHIFT; line <= (address + bytes - 1) >>> LINE_SHIFT; line++) {
      if (deviceLines.get(line) < 0) {
        elsewhere = true;
        missed |= lines.get(line) < 0;
      }
    }
    return found + (elsewhere ? far : 0) + (missed ? miss : 0);
  }

  /** When a write that arrives at {@code arrival} is visible. */
  long write(long address, int bytes, long arrival) {
    if (prices.caches()) {
      for (long line = address >>> LINE_SHIFT;
          line <= (address + bytes - 1) >>> LINE_SHIFT;
          line++) {
        deviceLines.put(line, 0);
      }
    }
    return translated(address, bytes, arrival);
  }

  /** When the walk for the last access began, or an earlier time where it needed none. */
  long walkStarted() {
    return walkStarted;
  }

  /** A CPU wrote: its caches hold the lines. */
  void cached(long address, long bytes) {
    if (prices.caches()) {
      for (long line = address >>> LINE_SHIFT;
          line <= (address + bytes - 1) >>> LINE_SHIFT;
          line++) {
        lines.put(line, 0);
      }
    }
  }

  private long translated(long address, int bytes, long arrival) {
    long ready = arrival;
    if (prices.translations() == 0) {
      return ready;
    }
    for (long page = address >>> pageShift; page <= (address + bytes - 1) >>> pageShift; page++) {
      long known = pages.get(page);
      if (known < 0) {
        walkStarted = Math.max(arrival, walkFree);
        walkFree = walkStarted + walkInterval;
        known = walkStarted + walk;
        pages.put(page, known);
      }
      ready = Math.max(ready, known);
    }
    return ready;
  }
}
