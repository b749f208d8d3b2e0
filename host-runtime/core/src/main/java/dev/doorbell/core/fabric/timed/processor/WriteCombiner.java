package dev.doorbell.core.fabric.timed.processor;

import dev.doorbell.core.fabric.timed.event.Event;
import dev.doorbell.core.fabric.timed.interconnect.AccessPath;
import dev.doorbell.core.fabric.timed.interconnect.Interconnect;
import dev.doorbell.core.fabric.timed.interconnect.Interconnect.Buffers;
import dev.doorbell.core.fabric.timed.link.Route;
import dev.doorbell.core.memory.RawMemory;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The buffers in which the posted stores of one GPU or CPU gather into lines before they become
 * TLPs.
 *
 * <p>Weak stores into one aligned line merge. A line leaves when it is full, when a thread that
 * stored into it fences, stores strongly or loads over the same path, when its window has passed,
 * or when its slot is needed. In doorbell pages only the pieces of a BlueFlame block merge, upwards
 * and without a gap.
 */
@SuppressWarnings("ReferenceEquality") // threads, lines and routes are compared by identity
public final class WriteCombiner {
  /** Bytes of a BlueFlame block: what an HCA takes as one WQE piece. */
  static final int REGISTER_BLOCK = 64;

  private static final int OPEN_LINES = 1024;
  private static final int BUCKETS = 1024;

  /** A line under way. */
  private final class Line extends Event {
    final long buffer;
    long base;
    int bytes;
    AccessPath path;
    long low;
    long high;
    long stored;
    StoreOrder[] writers = new StoreOrder[4];
    int writerCount;

    /** The next line of the same bucket. */
    @Nullable Line next;

    /** Neighbours by age. */
    @Nullable Line older;

    @Nullable Line younger;

    Line(AccessPath path) {
      this.path = path;
      this.buffer = interconnect.buffers().take(Buffers.LINE);
    }

    boolean full() {
      long all = bytes >= Long.SIZE ? -1L : (1L << bytes) - 1;
      long allHigh = bytes > Long.SIZE ? -1L >>> (Buffers.LINE - bytes) : 0;
      return low == all && high == allHigh;
    }

    int filled() {
      return low == 0 ? 0 : Long.SIZE - Long.numberOfLeadingZeros(low);
    }

    void mark(int offset, int count) {
      long bits = count >= Long.SIZE ? -1L : (1L << count) - 1;
      if (offset < Long.SIZE) {
        low |= bits << offset;
      } else {
        high |= bits << (offset - Long.SIZE);
      }
    }

    boolean writtenBy(StoreOrder thread) {
      for (int i = writerCount - 1; i >= 0; i--) {
        if (writers[i] == thread) {
          return true;
        }
      }
      return false;
    }

    void addWriter(StoreOrder thread) {
      if (writerCount > 0 && (writers[writerCount - 1] == thread || writtenBy(thread))) {
        return;
      }
      if (writerCount == writers.length) {
        writers = Arrays.copyOf(writers, writerCount * 2);
      }
      writers[writerCount++] = thread;
      thread.openLines++;
    }

    /** Its window has passed. */
    @Override
    protected void fire() {
      flush(this, interconnect.queue().clock());
    }
  }

  private final Interconnect interconnect;
  private final StoreOrder processor;
  private final int granule;
  private final long window;
  private final @Nullable Line[] buckets = new Line[BUCKETS];
  private @Nullable Line oldest;
  private @Nullable Line youngest;
  private int count;
  private @Nullable Line spare;

  /** A thread released its stores to its CTA while lines were open: the next fence sends them. */
  private boolean released;

  /**
   * @param processor what threads of the processor have released
   * @param granule bytes of a line
   * @param window for how long a line waits for more stores, in picoseconds
   */
  WriteCombiner(Interconnect interconnect, StoreOrder processor, int granule, long window) {
    this.interconnect = interconnect;
    this.processor = processor;
    this.granule = granule;
    this.window = window;
  }

  /** A weak store into memory elsewhere. */
  public void store(
      StoreOrder thread, long time, AccessPath path, long address, int bytes, long low, long high) {
    if (bytes > granule) {
      post(thread, time, path, address, bytes, low, high);
      return;
    }
    long base = address & -granule;
    Line line = find(base);
    if (line == null) {
      line = open(path, base, granule, time);
    }
    put(line, thread, time, address, bytes, low, high);
    if (line.full()) {
      flush(line, time);
    }
  }

  /** A piece of a BlueFlame block. */
  public void storeRegister(
      StoreOrder thread, long time, AccessPath path, long address, int bytes, long low, long high) {
    long base = address & -REGISTER_BLOCK;
    Line line = find(base);
    if (line != null && line.filled() != (int) (address - base)) {
      flush(line, time);
      line = null;
    }
    if (line == null) {
      // What this thread stored over the same path before stays before it.
      flush(thread, time, path.out());
      line = open(path, base, REGISTER_BLOCK, time);
    }
    put(line, thread, time, address, bytes, low, high);
    // A block that begins in its middle cannot fill; its window, a fence or a store ends it.
    if (line.full() || (int) (address - base) + bytes == REGISTER_BLOCK) {
      flush(line, time);
    }
  }

  /** A store that is a transaction of its own. */
  public void post(
      StoreOrder thread, long time, AccessPath path, long address, int bytes, long low, long high) {
    long buffer = interconnect.buffers().take(bytes);
    RawMemory.putLong(buffer, low);
    if (bytes > Long.BYTES) {
      RawMemory.putLong(buffer + Long.BYTES, high);
    }
    long acknowledged = interconnect.post(path, address, buffer, bytes, time);
    thread.posted(path, acknowledged);
  }

  /**
   * Sends what {@code thread} stored and what still waits, on {@code route} or, if null, on all.
   */
  public void flush(StoreOrder thread, long time, @Nullable Route route) {
    Line line = oldest;
    while (line != null && thread.openLines > 0) {
      Line following = line.younger;
      if ((route == null || line.path.out() == route) && line.writtenBy(thread)) {
        flush(line, time);
      }
      line = following;
    }
  }

  /** A thread released its stores, but only to its CTA: they may wait for more stores. */
  public void release() {
    released |= count > 0;
  }

  /**
   * A fence of at least GPU scope: sends the lines of {@code thread} and those that were released.
   */
  public void fence(StoreOrder thread, long time) {
    if (!released) {
      flush(thread, time, null);
      return;
    }
    while (oldest != null) {
      flush(oldest, time);
    }
    released = false;
  }

  private void put(
      Line line, StoreOrder thread, long time, long address, int bytes, long low, long high) {
    int offset = (int) (address - line.base);
    long at = line.buffer + offset;
    switch (bytes) {
      case 1 -> RawMemory.putByte(at, (byte) low);
      case 2 -> RawMemory.putShort(at, (short) low);
      case 4 -> RawMemory.putInt(at, (int) low);
      case 8 -> RawMemory.putLong(at, low);
      default -> {
        RawMemory.putLong(at, low);
        RawMemory.putLong(at + Long.BYTES, high);
      }
    }
    line.mark(offset, bytes);
    line.stored = time;
    line.addWriter(thread);
  }

  private Line open(AccessPath path, long base, int bytes, long time) {
    if (count == OPEN_LINES) {
      flush(Objects.requireNonNull(oldest), time);
    }
    Line line = spare;
    if (line == null) {
      line = new Line(path);
    } else {
      spare = line.next;
    }
    line.path = path;
    line.base = base;
    line.bytes = bytes;
    int bucket = bucket(base);
    line.next = buckets[bucket];
    buckets[bucket] = line;
    line.older = youngest;
    line.younger = null;
    if (youngest == null) {
      oldest = line;
    } else {
      youngest.younger = line;
    }
    youngest = line;
    count++;
    interconnect.underWay(1);
    interconnect.queue().schedule(line, time + window);
    return line;
  }

  private @Nullable Line find(long base) {
    Line line = buckets[bucket(base)];
    while (line != null && line.base != base) {
      line = line.next;
    }
    return line;
  }

  /** Lines that follow each other lie in different buckets, whatever the granule. */
  private int bucket(long base) {
    return (int) (base / Math.min(granule, REGISTER_BLOCK)) & (BUCKETS - 1);
  }

  private void remove(Line line) {
    int bucket = bucket(line.base);
    Line before = buckets[bucket];
    if (before == line) {
      buckets[bucket] = line.next;
    } else {
      while (before != null && before.next != line) {
        before = before.next;
      }
      Objects.requireNonNull(before).next = line.next;
    }
    if (line.older == null) {
      oldest = line.younger;
    } else {
      line.older.younger = line.younger;
    }
    if (line.younger == null) {
      youngest = line.older;
    } else {
      line.younger.older = line.older;
    }
    count--;
  }

  private void flush(Line line, long time) {
    remove(line);
    interconnect.underWay(-1);
    interconnect.queue().remove(line);
    long at = Math.max(time, line.stored);
    long acknowledged = 0;
    int from = nextSet(line, 0);
    while (from < line.bytes) {
      int to = nextClear(line, from);
      long buffer = interconnect.buffers().take(to - from);
      RawMemory.copy(line.buffer + from, buffer, to - from);
      acknowledged = interconnect.post(line.path, line.base + from, buffer, to - from, at);
      from = nextSet(line, to);
    }
    for (int i = 0; i < line.writerCount; i++) {
      line.writers[i].openLines--;
      line.writers[i].posted(line.path, acknowledged);
    }
    if (released) {
      processor.posted(line.path, acknowledged);
    }
    line.low = 0;
    line.high = 0;
    line.writerCount = 0;
    line.next = spare;
    spare = line;
  }

  private static int nextSet(Line line, int from) {
    return next(line.low, line.high, from);
  }

  private static int nextClear(Line line, int from) {
    return Math.min(line.bytes, next(~line.low, ~line.high, from));
  }

  private static int next(long low, long high, int from) {
    if (from < Long.SIZE) {
      long rest = low & (-1L << from);
      if (rest != 0) {
        return Long.numberOfTrailingZeros(rest);
      }
    }
    int start = Math.max(from, Long.SIZE) - Long.SIZE;
    long rest = start >= Long.SIZE ? 0 : high & (-1L << start);
    return rest == 0 ? 2 * Long.SIZE : Long.SIZE + Long.numberOfTrailingZeros(rest);
  }
}
