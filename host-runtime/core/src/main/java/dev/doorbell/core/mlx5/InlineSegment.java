package dev.doorbell.core.mlx5;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.generated.InlineFields;

/**
 * Payload inside the WQE: a header of 4 bytes and the bytes after it, padded to 16. The bytes may
 * run over the end of the send ring and go on at its start: a ring is read and written by {@link
 * SendQueue} units, or through a contiguous copy.
 */
public final class InlineSegment extends InlineFields {
  private InlineSegment() {}

  /** Bytes that a segment with {@code byteCount} payload bytes takes, padding included. */
  public static int bytes(int byteCount) {
    return (DATA_OFFSET + byteCount + SendQueue.UNIT - 1) & -SendQueue.UNIT;
  }

  /** The same in units of 16 bytes, as the DS field counts. */
  public static int units(int byteCount) {
    return bytes(byteCount) >>> SendQueue.UNIT_SHIFT;
  }

  /** Writes the header alone. */
  public static void writeHeader(long address, int byteCount) {
    BigEndian.putInt(address + BYTE_COUNT_OFFSET, INLINE | byteCount);
  }

  /**
   * Writes header, payload and zeroes up to the next multiple of 16; the segment must not wrap.
   *
   * @param source native address of the payload
   */
  public static void write(long address, long source, int byteCount) {
    writeHeader(address, byteCount);
    RawMemory.copy(source, address + DATA_OFFSET, byteCount);
    int end = DATA_OFFSET + byteCount;
    RawMemory.fill(address + end, bytes(byteCount) - end, (byte) 0);
  }
}
