package dev.doorbell.core.fabric;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.RawMemory;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Which device answers for which doorbell page. */
final class MmioPages {
  private final Map<Long, MmioTarget> targets = new HashMap<>();

  void route(long page, MmioTarget target) {
    targets.put(page, target);
  }

  void unroute(long page) {
    targets.remove(page);
  }

  @Nullable MmioTarget target(long address) {
    return targets.get(address & -AddressSpace.PAGE);
  }

  /**
   * Stores to the page's memory, so that pollers see it, and tells the device.
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
}
