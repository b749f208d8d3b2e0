package dev.doorbell.push;

import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.push.PushHeader;

/**
 * Reads the header of a message at a native address; see {@link PushHeader} for where what lies.
 */
final class HeaderReader {
  private HeaderReader() {}

  static long index(long header) {
    return RawMemory.getLong(header + PushHeader.INDEX);
  }

  static long local(long header) {
    return RawMemory.getLong(header + PushHeader.LOCAL);
  }

  static long remote(long header) {
    return RawMemory.getLong(header + PushHeader.REMOTE);
  }

  static int bytes(long header) {
    return RawMemory.getInt(header + PushHeader.LENGTH);
  }

  static int destination(long header) {
    return RawMemory.getInt(header + PushHeader.DESTINATION);
  }

  static int checksum(long header) {
    return RawMemory.getInt(header + PushHeader.CHECKSUM);
  }

  static boolean has(long header, int flag) {
    return (RawMemory.getInt(header + PushHeader.FLAGS) & flag) != 0;
  }

  /** The slot in a pool. */
  static int slot(long header) {
    return RawMemory.getInt(header + PushHeader.FLAGS) >>> PushHeader.SLOT_SHIFT;
  }

  /**
   * True when the header at {@code header} is that of message {@code index}, whole: its words may
   * come one by one where nothing orders them before the doorbell.
   */
  static boolean isOf(long header, long index, int entries) {
    return index(header) == index
        && RawMemory.getInt(header + PushHeader.PHASE) == PushHeader.phase(index, entries)
        && RawMemory.getInt(header + PushHeader.SEAL) == seal(header);
  }

  private static int seal(long header) {
    int sum = 1;
    for (int at = 0; at < PushHeader.SEAL; at += Integer.BYTES) {
      sum += RawMemory.getInt(header + at);
    }
    return sum;
  }
}
