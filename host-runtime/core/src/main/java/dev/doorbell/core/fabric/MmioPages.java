package dev.doorbell.core.fabric;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.RawMemory;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Finds the device that answers for a doorbell page: an open-addressed table, because every ring
 * looks here and none may allocate.
 */
final class MmioPages {
  private static final long NO_PAGE = 0;

  private final AddressSpace memory;
  private long[] pages = new long[16];
  private @Nullable MmioTarget[] targets = new MmioTarget[16];
  private int used;

  MmioPages(AddressSpace memory) {
    this.memory = memory;
  }

  /** Routes a page; one that was routed before, and perhaps freed since, gets the new target. */
  void route(long page, MmioTarget target) {
    int slot = slot(page);
    if (pages[slot] == NO_PAGE) {
      if (2 * ++used > pages.length) {
        grow();
        slot = slot(page);
      }
      pages[slot] = page;
    }
    targets[slot] = target;
  }

  /** Nobody answers at the page any more; its slot is kept for the next one there. */
  void unroute(long page) {
    targets[slot(page)] = null;
  }

  /** The device that answers at {@code address}, or null: also where the page is not live. */
  @Nullable MmioTarget target(long address) {
    return memory.isRegister(address) ? targets[slot(address & -AddressSpace.PAGE)] : null;
  }

  /**
   * Stores to the page's memory, so that pollers see it, and notifies the device.
   *
   * @return false when no device answers there
   */
  boolean store(long address, int bytes, long low, long high) {
    MmioTarget target = target(address);
    if (target == null) {
      return false;
    }
    switch (bytes) {
      case 1 -> RawMemory.putByteOpaque(address, (byte) low);
      case 2 -> RawMemory.putShortOpaque(address, (short) low);
      case 4 -> RawMemory.putIntOpaque(address, (int) low);
      case 8 -> RawMemory.putLongOpaque(address, low);
      default -> {
        RawMemory.putLongOpaque(address, low);
        RawMemory.putLongOpaque(address + Long.BYTES, high);
      }
    }
    target.mmioWrite(address, address, bytes);
    return true;
  }

  /** Returns the index of {@code page}, or the free slot where it belongs. */
  private int slot(long page) {
    int mask = pages.length - 1;
    int slot = (int) (((page >>> 12) * 0x9e37_79b9_7f4a_7c15L) >>> 40) & mask;
    while (pages[slot] != page && pages[slot] != NO_PAGE) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private void grow() {
    long[] oldPages = pages;
    @Nullable MmioTarget[] oldTargets = targets;
    pages = new long[2 * oldPages.length];
    targets = Arrays.copyOf(oldTargets, pages.length);
    Arrays.fill(targets, null);
    for (int i = 0; i < oldPages.length; i++) {
      if (oldPages[i] != NO_PAGE) {
        int slot = slot(oldPages[i]);
        pages[slot] = oldPages[i];
        targets[slot] = oldTargets[i];
      }
    }
  }
}
