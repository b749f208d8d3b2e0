package dev.doorbell.interop.shim;

import dev.doorbell.core.memory.AddressSpace;
import java.util.BitSet;

/**
 * Which pages of a device's on-chip memory are taken. What is in them lies in the shared file of
 * whoever has them, where devices number their pages one after the other.
 */
final class ChipMemory {
  /** Of a device; whole pages of it are allocated. */
  static final long BYTES = 1 << 20;

  private static final int PAGES = (int) (BYTES / AddressSpace.PAGE);

  private final int first;
  private final BitSet taken = new BitSet(PAGES);

  ChipMemory(int device) {
    this.first = device * PAGES;
  }

  private static int pages(long bytes) {
    return (int) ((bytes + AddressSpace.PAGE - 1) / AddressSpace.PAGE);
  }

  /**
   * Takes pages that lie side by side.
   *
   * @param bytes at most {@link #BYTES}
   * @return the number of the first, or -1 when there are not that many
   */
  int take(long bytes) {
    int wanted = pages(bytes);
    int from = taken.nextClearBit(0);
    while (from + wanted <= PAGES) {
      int next = taken.nextSetBit(from);
      if (next < 0 || next >= from + wanted) {
        taken.set(from, from + wanted);
        return first + from;
      }
      from = taken.nextClearBit(next);
    }
    return -1;
  }

  /** Gives them back. */
  void give(int page, long bytes) {
    taken.clear(page - first, page - first + pages(bytes));
  }

  /** Where a page lies in the shared file. */
  static long offset(int page) {
    return Abi.CHIP_OFFSET + (long) page * AddressSpace.PAGE;
  }
}
