package dev.doorbell.core.memory;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Native memory that is zeros, and of which a page costs nothing until it is touched: rings of
 * which few entries are ever used, buffers that are filled anyway. It comes from the system in
 * large pieces; the garbage collector gives a piece back when nothing refers to any part of it.
 */
public final class LazyMemory {
  /** For memory of which much is never touched. */
  public static final LazyMemory SPARSE = new LazyMemory(false);

  /** For memory that is used as a whole: in huge pages where the system has them. */
  public static final LazyMemory DENSE = new LazyMemory(true);

  private static final long PIECE = 8L << 20;

  private final boolean huge;
  private @Nullable MemorySegment piece;
  private long used;

  private LazyMemory(boolean huge) {
    this.huge = huge;
  }

  /**
   * Allocates zeros.
   *
   * @param alignment a power of two, at most a page
   * @return memory that stays as long as it is reachable
   */
  public synchronized MemorySegment allocate(long bytes, long alignment) {
    if (bytes > PIECE) {
      return map(bytes);
    }
    long start = (used + alignment - 1) & -alignment;
    MemorySegment current = piece;
    if (current == null || start + bytes > PIECE) {
      current = map(PIECE);
      piece = current;
      start = 0;
    }
    used = start + bytes;
    return current.asSlice(start, bytes);
  }

  private MemorySegment map(long bytes) {
    long pages = (bytes + AddressSpace.PAGE - 1) & -AddressSpace.PAGE;
    long address = AddressSpace.NativePages.map(pages);
    if (huge) {
      AddressSpace.NativePages.preferHuge(address, pages);
    }
    return RawMemory.collected(
        address, bytes, () -> AddressSpace.NativePages.unmap(address, pages));
  }
}
