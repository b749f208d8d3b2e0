package dev.doorbell.interop.shim.object;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.uverbs.generated.UverbsAbi;
import java.util.BitSet;

/**
 * Allocates the pages of a device's on-chip memory. Their contents lie in the shared file of the
 * program that has them; all devices number their pages in one sequence.
 */
public final class OnChipPages {
  /** On-chip memory of a device; it is allocated in whole pages. */
  public static final long BYTES = 1 << 20;

  private static final int PAGES = (int) (BYTES / AddressSpace.PAGE);

  private final int first;
  private final BitSet taken = new BitSet(PAGES);

  OnChipPages(int device) {
    this.first = device * PAGES;
  }

  private static int pages(long bytes) {
    return (int) ((bytes + AddressSpace.PAGE - 1) / AddressSpace.PAGE);
  }

  /**
   * Allocates contiguous pages.
   *
   * @param bytes at most {@link #BYTES}
   * @return the number of the first, or -1 when no range is large enough
   */
  public int allocate(long bytes) {
    int count = pages(bytes);
    int from = taken.nextClearBit(0);
    while (from + count <= PAGES) {
      int next = taken.nextSetBit(from);
      if (next < 0 || next >= from + count) {
        taken.set(from, from + count);
        return first + from;
      }
      from = taken.nextClearBit(next);
    }
    return -1;
  }

  public void free(int page, long bytes) {
    taken.clear(page - first, page - first + pages(bytes));
  }

  /**
   * Offset of a page in the shared file, as libmlx5 computes it of a page index. The pages of a
   * device have the same upper half, so that a range of them is one range of the file.
   */
  public static long offset(int page) {
    int low = page & 0xff;
    int high = page >>> 8;
    return (long) (high << 16 | UverbsAbi.MMAP_DEVICE_MEMORY << 8 | low) * AddressSpace.PAGE;
  }
}
