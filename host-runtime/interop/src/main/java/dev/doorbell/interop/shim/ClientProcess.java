package dev.doorbell.interop.shim;

import dev.doorbell.core.memory.AddressSpace;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A process that has devices open: its memory, and the file that it shares with us. A page of the
 * process that is shared lies in the file at its own address, so that any range of shared pages is
 * one mapping here.
 */
final class ClientProcess {
  /** Addresses of programs end here; bus addresses have the process's slot above. */
  static final int ADDRESS_BITS = 47;

  private static final long PAGE = AddressSpace.PAGE;

  private final int pid;
  private final int slot;
  private final ProcessMemory memory;
  private final FileChannel file;

  /** Shared pages, and how many leases each is part of. */
  private final TreeMap<Long, Integer> pages = new TreeMap<>();

  private int connections;

  /**
   * @param slot a number of its own among the processes, from 1
   * @param descriptor number of the shared file in the process
   * @throws IOException when the file cannot be opened
   */
  ClientProcess(int pid, int slot, int descriptor) throws IOException {
    this.pid = pid;
    this.slot = slot;
    this.memory = new ProcessMemory(pid);
    this.file =
        FileChannel.open(
            Path.of("/proc/%d/fd/%d".formatted(pid, descriptor)),
            StandardOpenOption.READ,
            StandardOpenOption.WRITE);
  }

  int pid() {
    return pid;
  }

  int slot() {
    return slot;
  }

  ProcessMemory memory() {
    return memory;
  }

  /** The address by which devices reach a byte of the process. */
  long bus(long address) {
    return (long) slot << ADDRESS_BITS | address;
  }

  /** A mapping of a part of the shared file. */
  static final class Lease {
    private final Arena arena;
    private final long address;
    private final long bytes;
    private final Runnable end;

    private Lease(Arena arena, long address, long bytes, Runnable end) {
      this.arena = arena;
      this.address = address;
      this.bytes = bytes;
      this.end = end;
    }

    /** Native address of the first byte. */
    long address() {
      return address;
    }

    long bytes() {
      return bytes;
    }

    void close() {
      arena.close();
      end.run();
    }
  }

  /** A range of the process. */
  record Range(long start, long bytes) {}

  private static long pageOf(long address) {
    return address & -PAGE;
  }

  /** What of {@code [start, start + bytes)} is not shared yet: its first gap, in whole pages. */
  List<Range> missing(long start, long bytes) {
    long end = start + bytes;
    long from = pageOf(start);
    while (from < end && pages.containsKey(from)) {
      from += PAGE;
    }
    long to = from;
    while (to < end && !pages.containsKey(to)) {
      to += PAGE;
    }
    return from < to ? List.of(new Range(from, to - from)) : List.of();
  }

  /** The process has shared a range of whole pages; they stay shared until {@link #release}. */
  void shared(Range range) {
    use(range.start, range.start + range.bytes, 1);
  }

  /** Ends what {@link #shared} began: from now on leases alone keep the pages shared. */
  void release(Range range) {
    use(range.start, range.start + range.bytes, -1);
  }

  /** Shared pages that no lease needs; they count as private from now on. */
  List<Range> takeUnused() {
    List<Range> unused = new ArrayList<>();
    long start = 0;
    long end = 0;
    for (Map.Entry<Long, Integer> page : pages.entrySet()) {
      if (page.getValue() != 0) {
        continue;
      }
      if (page.getKey() != end) {
        if (end > start) {
          unused.add(new Range(start, end - start));
        }
        start = page.getKey();
      }
      end = page.getKey() + PAGE;
    }
    if (end > start) {
      unused.add(new Range(start, end - start));
    }
    pages.values().removeIf(uses -> uses == 0);
    return unused;
  }

  /**
   * Maps a range whose pages are shared.
   *
   * @throws IOException when it cannot be mapped
   */
  Lease lease(long start, long bytes) throws IOException {
    long first = pageOf(start);
    long end = start + bytes;
    Lease lease = map(first, end - first, start - first, () -> use(first, end, -1));
    use(first, end, 1);
    return lease;
  }

  private void use(long first, long end, int more) {
    for (long page = first; page < end; page += PAGE) {
      pages.merge(page, more, Integer::sum);
    }
  }

  /**
   * Maps a part of the file above all addresses: doorbell pages, on-chip memory.
   *
   * @throws IOException when it cannot be mapped
   */
  Lease device(long offset, long bytes) throws IOException {
    return map(offset, bytes, 0, () -> {});
  }

  private Lease map(long offset, long bytes, long within, Runnable end) throws IOException {
    Arena arena = Arena.ofShared();
    try {
      long address = file.map(FileChannel.MapMode.READ_WRITE, offset, bytes, arena).address();
      return new Lease(arena, address + within, bytes - within, end);
    } catch (IOException | RuntimeException e) {
      arena.close();
      throw e;
    }
  }

  /** Whether a whole range is mapped by the process, for reading and, if asked, for writing. */
  boolean isMapped(long start, long bytes, boolean writable) {
    long at = start;
    try {
      for (String line : Files.readAllLines(Path.of("/proc/%d/maps".formatted(pid)))) {
        int dash = line.indexOf('-');
        int space = line.indexOf(' ');
        long from = Long.parseUnsignedLong(line, 0, dash, 16);
        long to = Long.parseUnsignedLong(line, dash + 1, space, 16);
        if (Long.compareUnsigned(to, at) <= 0) {
          continue;
        }
        if (Long.compareUnsigned(from, at) > 0
            || line.charAt(space + 1) != 'r'
            || (writable && line.charAt(space + 2) != 'w')) {
          return false;
        }
        at = to;
        if (at - start >= bytes) {
          return true;
        }
      }
    } catch (IOException e) {
      return false;
    }
    return false;
  }

  /** A connection of it has opened. */
  void opened() {
    connections++;
  }

  /**
   * A connection of it has ended.
   *
   * @return true when it was the last
   */
  boolean closed() {
    if (--connections > 0) {
      return false;
    }
    try {
      file.close();
    } catch (IOException e) {
      // Nothing was buffered that could be lost.
      return true;
    }
    return true;
  }
}
