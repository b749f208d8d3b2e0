package dev.doorbell.core.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One reserved native range in which all memory of an emulated world lies: GPU, host, on-chip
 * memory and doorbell pages, so that kernels, HCAs and proxies use the same addresses.
 *
 * <p>Pages that are not touched cost nothing. Every allocation starts on a page of its own and is
 * followed by at least one unused page, so {@link #accessible} is one table look-up: how many bytes
 * of this page may be touched. Pages of kind {@link MemoryKind#UAR} are never accessible there:
 * their accesses are transactions and go through a port's MMIO path.
 *
 * <p>Not thread-safe for allocation and look-up by {@link #find}; the checks may run on any thread.
 */
public final class AddressSpace implements AutoCloseable {
  /** Bytes of a page: allocations are aligned to it. */
  public static final int PAGE = 4096;

  /**
   * The range begins at a multiple of this, so that the lower bits of an address are the same in
   * every process: what a model makes of them is the same, too.
   */
  public static final long ALIGNMENT = 1L << 30;

  private static final int PAGE_SHIFT = 12;
  private static final long DEFAULT_BYTES = 16L << 30;

  /** Fewer bytes are sooner overwritten than their pages are given back and touched again. */
  private static final long LEAST_DISCARDED = 1L << 20;

  /**
   * Bytes of freed allocations that keep their pages. Giving back the pages of each allocation
   * alone costs more than the allocation was worth where worlds have thousands of small ones.
   */
  private static final long MOST_STALE = 32L << 20;

  /**
   * An allocation of so many bytes gets huge pages of the system, which it touches at a fraction of
   * the price.
   */
  private static final long LEAST_HUGE = 4L << 20;

  /**
   * Bytes that get huge pages in all; further allocations get small ones, since what is not touched
   * of a huge page costs memory, too.
   */
  private static final long MOST_HUGE = 2L << 30;

  /** Marks pages of kind UAR: below every number of bytes, so nothing may be touched. */
  private static final short REGISTERS = -1;

  /** The table has parts of 2^18 pages, 1 GiB: a part is made when something is allocated there. */
  public static final int PART_SHIFT = 18;

  /** The part of the table where nothing was ever allocated. */
  private static final short[] NOTHING = new short[1 << PART_SHIFT];

  /** Start of the mapping that the system gave, before {@link #base}; 0 where another owns it. */
  private final long reserved;

  /** The advice by which pages are given back and read as zeros afterwards. */
  private final int discarding;

  private final long base;
  private final long size;

  /** Bytes that may be touched by page, or {@link #REGISTERS}. */
  private short[][] accessibleBytes;

  private boolean sharesTable;

  private final TreeMap<Long, Allocation> live = new TreeMap<>();

  /** Free ranges of each node's part of the range: one part where all ranks touch the same. */
  private Ranges[] free;

  private int ranksOfNode = Integer.MAX_VALUE;
  private String fix = "";

  /** Start addresses of the members of multicast objects, by the object's first address. */
  private final Map<Long, long[]> members = new HashMap<>();

  /** Ranges that were freed and have not been zeroed since. */
  private final Ranges stale;

  /** What {@link #find} returned last: accesses come in runs. */
  private @Nullable Allocation found;

  private int generation;
  private long bytesOfHugePages;
  private boolean closed;

  private AddressSpace(SpareRange range, long size, int discarding) {
    this.reserved = range.reserved;
    this.base = range.base;
    this.accessibleBytes = range.table;
    this.stale = range.stale;
    this.size = size;
    this.discarding = discarding;
    this.free = parts(1);
  }

  private Ranges[] parts(int count) {
    Ranges[] parts = new Ranges[count];
    for (int i = 0; i < count; i++) {
      parts[i] = new Ranges();
      parts[i].add(base + i * partBytes(count) + PAGE, partBytes(count) - 2L * PAGE);
    }
    return parts;
  }

  private long partBytes(int count) {
    return size / count & -PAGE;
  }

  /** Reserves the default range: 16 GiB of addresses, no memory. */
  public static AddressSpace reserve() {
    return reserve(DEFAULT_BYTES);
  }

  /**
   * Reserves {@code bytes} of addresses.
   *
   * @throws OutOfMemoryError when the system refuses
   */
  public static AddressSpace reserve(long bytes) {
    long rounded = roundUp(Math.max(bytes, 16L * PAGE));
    return new AddressSpace(SpareRange.take(rounded), rounded, NativePages.MADV_DONTNEED);
  }

  /**
   * Uses a range that the caller has mapped from a file in memory and unmaps after {@link #close}.
   *
   * @param base a multiple of {@link #ALIGNMENT}
   */
  public static AddressSpace over(long base, long bytes) {
    return new AddressSpace(
        new SpareRange(0, base, SpareRange.table(bytes), new Ranges()),
        bytes,
        NativePages.MADV_REMOVE);
  }

  /**
   * Allocates {@code bytes} bytes, zeroed, at a page boundary.
   *
   * @throws IllegalStateException when the range is used up
   */
  public Allocation allocate(MemoryKind kind, Locus locus, long bytes, String label) {
    if (bytes <= 0) {
      throw new IllegalArgumentException("bytes=" + bytes + " for '" + label + "'");
    }
    requireOpen();
    long room = bytes > size ? Long.MAX_VALUE : roundUp(bytes) + PAGE;
    Ranges part = free[locus.rank() / ranksOfNode];
    long address = part.find(room);
    if (address < 0) {
      throw new IllegalStateException(
          "no room for '%s' (%d bytes of %s memory): %d bytes reserved, %d in use"
              .formatted(label, bytes, kind.word(), partBytes(free.length), bytesInUse()));
    }
    part.remove(address, room, (start, length) -> {});
    stale.remove(address, room, this::zero);
    generation++;
    Allocation allocation = new Allocation(address, bytes, kind, locus, label);
    live.put(address, allocation);
    mark(allocation, true);
    if (bytes >= LEAST_HUGE && bytesOfHugePages + bytes <= MOST_HUGE) {
      bytesOfHugePages += bytes;
      NativePages.preferHuge(address, roundUp(bytes));
    }
    return allocation;
  }

  /**
   * Allocates the addresses of a multicast object.
   *
   * @param of where the memory of each member begins, {@code bytes} of it
   */
  Allocation multicast(Locus locus, long bytes, long[] of, String label) {
    Allocation allocation = allocate(MemoryKind.MULTICAST, locus, bytes, label);
    members.put(allocation.address(), of.clone());
    return allocation;
  }

  /**
   * The addresses that a range of a multicast object stands for, one for each member.
   *
   * @return null when the range lies in no multicast object
   */
  public long @Nullable [] members(long address, int bytes) {
    Allocation allocation = find(address);
    long[] starts = allocation == null ? null : members.get(allocation.address());
    if (allocation == null || starts == null || !allocation.contains(address, bytes)) {
      return null;
    }
    long[] members = starts.clone();
    for (int i = 0; i < members.length; i++) {
      members[i] += address - allocation.address();
    }
    return members;
  }

  /**
   * Gives an allocation back, and its pages to the system: at once those of a large one, with
   * others those of a small one.
   */
  public void free(Allocation allocation) {
    requireOpen();
    if (!live.remove(allocation.address(), allocation)) {
      throw new IllegalArgumentException(allocation + " is not live");
    }
    generation++;
    found = null;
    members.remove(allocation.address());
    mark(allocation, false);
    soil(allocation);
    free[allocation.locus().rank() / ranksOfNode].add(
        allocation.address(), roundUp(allocation.size()) + PAGE);
  }

  /** What lay there is no longer needed. */
  private void soil(Allocation allocation) {
    long pages = roundUp(allocation.size());
    if (pages >= LEAST_DISCARDED) {
      discard(allocation.address(), pages);
    } else {
      stale.add(allocation.address(), pages);
      if (stale.bytes() > MOST_STALE) {
        // One page between two allocations belongs to neither.
        stale.clear(PAGE, this::discard);
      }
    }
  }

  /**
   * Writes zeros. Of a large range whole pages go back to the system: they are zeros when they are
   * touched next, and until then cost nothing.
   *
   * @param address of memory that {@link #accessibleRange} says may be touched
   */
  public void zero(long address, long bytes) {
    long first = roundUp(address);
    long last = (address + bytes) & -PAGE;
    if (last - first < LEAST_DISCARDED) {
      RawMemory.fill(address, bytes, (byte) 0);
      return;
    }
    RawMemory.fill(address, first - address, (byte) 0);
    discard(first, last - first);
    RawMemory.fill(last, address + bytes - last, (byte) 0);
  }

  private void discard(long address, long bytes) {
    NativePages.discard(address, bytes, discarding);
  }

  /**
   * True when {@code [address, address + bytes)} may be touched directly. For accesses that do not
   * cross a page: naturally aligned ones of at most 4096 bytes.
   */
  public boolean accessible(long address, int bytes) {
    long offset = address - base;
    // One unsigned comparison covers addresses below and above the window.
    if (Long.compareUnsigned(offset, size) >= 0) {
      return false;
    }
    return ((int) offset & (PAGE - 1)) + bytes <= accessibleBytes((int) (offset >>> PAGE_SHIFT));
  }

  private short accessibleBytes(int page) {
    return accessibleBytes[page >>> PART_SHIFT][page & ((1 << PART_SHIFT) - 1)];
  }

  /**
   * The table that {@link #accessible} consults, for generated code that makes the same look-up in
   * place.
   *
   * @param base the lowest address that the rank may touch
   * @param pages how many there are from there
   * @param first entry of the table for the first of these pages
   * @param accessibleBytes bytes of each page that may be touched, or less than 0, in parts of
   *     2^{@link #PART_SHIFT} pages; live: it changes with allocations
   */
  @SuppressWarnings("ArrayRecordComponent") // shared on purpose
  public record PageTable(long base, long pages, int first, short[][] accessibleBytes) {}

  /** The table behind {@link #accessible}, as far as a rank may touch memory. */
  public PageTable pageTable(int rank) {
    sharesTable = true;
    long from = reachStart(rank);
    return new PageTable(from, reachBytes() >>> PAGE_SHIFT, page(from), accessibleBytes);
  }

  /** Returns the lowest of the {@link #reachBytes} addresses that threads of a rank may touch. */
  public long reachStart(int rank) {
    return base + rank / ranksOfNode * reachBytes();
  }

  /** Returns the number of addresses that threads of a rank may touch. */
  public long reachBytes() {
    return partBytes(free.length);
  }

  /**
   * Separates the memory of nodes, before there is any: threads reach that of other nodes by DMA
   * alone, as GPUs without NVLink do. Each node has an equal part of the range.
   *
   * @param perNode consecutive ranks that touch each other's memory
   * @param advice what the user can do about a refusal
   */
  public void separate(int ranks, int perNode, String advice) {
    if (!live.isEmpty()) {
      throw new IllegalStateException("there are allocations");
    }
    ranksOfNode = perNode;
    fix = advice;
    free = parts(Math.ceilDiv(ranks, perNode));
  }

  /** Does the same as {@link #accessible} for ranges of any length and alignment. */
  public boolean accessibleRange(long address, long bytes) {
    if (bytes == 0) {
      return true;
    }
    long offset = address - base;
    if (offset < 0 || bytes < 0 || bytes > size - offset) {
      return false;
    }
    // An unused page follows every allocation: pages that join up belong to the same one.
    int page = (int) (offset >>> PAGE_SHIFT);
    long end = (offset & (PAGE - 1)) + bytes;
    while (end > PAGE) {
      if (accessibleBytes(page++) != PAGE) {
        return false;
      }
      end -= PAGE;
    }
    return end <= accessibleBytes(page);
  }

  /** True when {@code address} lies in a live allocation of kind {@link MemoryKind#UAR}. */
  public boolean isRegister(long address) {
    long offset = address - base;
    return Long.compareUnsigned(offset, size) < 0
        && accessibleBytes((int) (offset >>> PAGE_SHIFT)) == REGISTERS;
  }

  /** The allocation that holds {@code address}, or null. */
  public @Nullable Allocation find(long address) {
    Allocation last = found;
    if (last != null && last.contains(address, 1)) {
      return last;
    }
    Map.Entry<Long, Allocation> entry = live.floorEntry(address);
    Allocation here = entry == null ? null : entry.getValue();
    found = here != null && here.contains(address, 1) ? here : null;
    return found;
  }

  /**
   * Checks a range.
   *
   * @throws AccessFault naming the nearest allocation
   */
  public void check(String what, long address, long bytes) {
    if (!accessibleRange(address, bytes)) {
      throw fault(what, address, bytes);
    }
  }

  /** The error for a refused access. */
  public AccessFault fault(String what, long address, long bytes) {
    return new AccessFault(what, address, bytes, describe(address, bytes));
  }

  /** The error for an access that {@code from} was refused: nobody's memory, or another node's. */
  public AccessFault fault(String what, long address, int bytes, Locus from) {
    return accessible(address, bytes)
        ? unreachable(what, address, bytes, from, fix)
        : fault(what, address, bytes);
  }

  /**
   * The error for an access to memory of another rank, where no NVLink joins both.
   *
   * @param from who accesses it
   * @param fix what the user can do, in brackets
   */
  public AccessFault unreachable(String what, long address, long bytes, Locus from, String fix) {
    Allocation there = Objects.requireNonNull(find(address));
    return new AccessFault(
        what,
        address,
        bytes,
        "%s: %s cannot address memory of %s, no NVLink is between them (%s)"
            .formatted(there, from, there.locus(), fix));
  }

  /** Describes {@code address} relative to the nearest allocation. */
  public String describe(long address, long bytes) {
    Map.Entry<Long, Allocation> below = live.floorEntry(address);
    Map.Entry<Long, Allocation> above = live.higherEntry(address);
    if (below != null && below.getValue().contains(address, 1)) {
      Allocation inside = below.getValue();
      long over = address + bytes - (inside.address() + inside.size());
      if (over > 0) {
        return "runs %d bytes past the end of %s".formatted(over, inside);
      }
      return inside.kind() == MemoryKind.UAR
          ? "inside %s, which takes single loads and stores only".formatted(inside)
          : "inside %s".formatted(inside);
    }
    long gapBelow =
        below == null
            ? Long.MAX_VALUE
            : address - (below.getValue().address() + below.getValue().size());
    long gapAbove = above == null ? Long.MAX_VALUE : above.getKey() - address;
    if (below != null && gapBelow <= gapAbove) {
      return "%d bytes past the end of %s".formatted(gapBelow, below.getValue());
    }
    if (above != null) {
      return "%d bytes before %s".formatted(gapAbove, above.getValue());
    }
    return "nothing is allocated";
  }

  /** Changes with every allocation and every free: what was found before may be gone. */
  public int generation() {
    return generation;
  }

  /** Bytes of live allocations. */
  public long bytesInUse() {
    long sum = 0;
    for (Allocation allocation : live.values()) {
      sum += allocation.size();
    }
    return sum;
  }

  /** Gives the whole range back. Every address in it is invalid from then on. */
  @Override
  public void close() {
    if (!closed) {
      closed = true;
      live.values().forEach(allocation -> mark(allocation, false));
      boolean reused = reserved != 0 && size == DEFAULT_BYTES && !sharesTable;
      if (reused && bytesOfHugePages == 0) {
        live.values().forEach(this::soil);
        SpareRange.give(new SpareRange(reserved, base, accessibleBytes, stale));
        accessibleBytes = SpareRange.NONE;
      } else if (reserved != 0) {
        NativePages.unmap(reserved, size + ALIGNMENT);
      }
      live.clear();
      found = null;
      generation++;
    }
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the address space is closed");
    }
  }

  @SuppressWarnings("ReferenceEquality") // a part that was made is another one
  private void mark(Allocation allocation, boolean mapped) {
    int first = page(allocation.address());
    long left = allocation.size();
    for (int i = 0; left > 0; i++, left -= PAGE) {
      int part = (first + i) >>> PART_SHIFT;
      if (accessibleBytes[part] == NOTHING) {
        accessibleBytes[part] = new short[1 << PART_SHIFT];
      }
      accessibleBytes[part][(first + i) & ((1 << PART_SHIFT) - 1)] =
          switch (allocation.kind()) {
            case UAR -> mapped ? REGISTERS : 0;
            case MULTICAST -> 0;
            default -> mapped ? (short) Math.min(left, PAGE) : 0;
          };
    }
  }

  private int page(long address) {
    return (int) ((address - base) >>> PAGE_SHIFT);
  }

  private static long roundUp(long bytes) {
    return (bytes + PAGE - 1) & -PAGE;
  }

  /**
   * A range of an address space that was closed, for the next one. A sweep opens thousands of
   * worlds: to map, touch and unmap the pages of each was a third of what a short one takes.
   *
   * @param table accessible bytes by page, all 0
   * @param stale the pages that are not all 0
   */
  @SuppressWarnings("ArrayRecordComponent") // shared on purpose
  private record SpareRange(long reserved, long base, short[][] table, Ranges stale) {
    private static final int KEPT = 4;

    /** The table of every address space that has given its own back: nothing is accessible. */
    static final short[][] NONE = table(DEFAULT_BYTES);

    private static final ArrayDeque<SpareRange> SPARE = new ArrayDeque<>();

    static short[][] table(long bytes) {
      short[][] table =
          new short[(int) (((bytes >>> PAGE_SHIFT) + NOTHING.length - 1) >>> PART_SHIFT)][];
      Arrays.fill(table, NOTHING);
      return table;
    }

    static SpareRange take(long bytes) {
      synchronized (SPARE) {
        if (bytes == DEFAULT_BYTES && !SPARE.isEmpty()) {
          return SPARE.pop();
        }
      }
      long reserved = NativePages.map(bytes + ALIGNMENT);
      long base = (reserved + ALIGNMENT - 1) & -ALIGNMENT;
      return new SpareRange(reserved, base, table(bytes), new Ranges());
    }

    static void give(SpareRange range) {
      synchronized (SPARE) {
        if (SPARE.size() < KEPT) {
          SPARE.push(range);
          return;
        }
      }
      NativePages.unmap(range.reserved, DEFAULT_BYTES + ALIGNMENT);
    }
  }

  /** mmap, madvise and munmap of Linux. */
  static final class NativePages {
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_PRIVATE_ANONYMOUS_NORESERVE = 0x2 | 0x20 | 0x4000;
    static final int MADV_DONTNEED = 4;

    /** Pages of a shared file: {@link #MADV_DONTNEED} would keep their bytes. */
    static final int MADV_REMOVE = 9;

    private static final int MADV_HUGEPAGE = 14;
    private static final int MMAP = SystemCall.number(9, 222);
    private static final int MUNMAP = SystemCall.number(11, 215);
    private static final int MADVISE = SystemCall.number(28, 233);

    /** Errors of all threads: only whether a call failed counts, not the number. */
    private static final MemorySegment STATE = Arena.global().allocate(SystemCall.STATE);

    static long map(long bytes) {
      long address =
          SystemCall.call(
              STATE, MMAP, 0, bytes, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS_NORESERVE, -1, 0);
      if (address < 0) {
        throw new OutOfMemoryError(
            "%,d MiB of addresses cannot be reserved (mmap failed)".formatted(bytes >> 20));
      }
      return address;
    }

    static void discard(long address, long bytes, int advice) {
      if (!advise(address, bytes, advice)) {
        RawMemory.fill(address, bytes, (byte) 0);
      }
    }

    /** Advice that a system may ignore. */
    static void preferHuge(long address, long bytes) {
      advise(address, bytes, MADV_HUGEPAGE);
    }

    private static boolean advise(long address, long bytes, int advice) {
      return SystemCall.call(STATE, MADVISE, address, bytes, advice, 0, 0, 0) == 0;
    }

    static void unmap(long address, long bytes) {
      if (SystemCall.call(STATE, MUNMAP, address, bytes, 0, 0, 0, 0) != 0) {
        throw new IllegalStateException("munmap of 0x%x failed".formatted(address));
      }
    }
  }
}
