package dev.doorbell.core.efa.generated;

import dev.doorbell.core.memory.RawMemory;
import javax.annotation.processing.Generated;

/**
 * A local buffer or the remote memory of a {@code TxWqe}.
 *
 * <p>Written by FormatsTest from src/main/formats/efa.txt.
 */
@Generated("FormatsTest")
public class TxBuffer {
  /** Bytes of the structure. */
  public static final int BYTES = 16;

  public static final int LENGTH_OFFSET = 0x00;

  public static final int KEY_OFFSET = 0x04;

  public static final int ADDRESS_OFFSET = 0x08;

  protected TxBuffer() {}

  /** Bytes. */
  public static int length(long at) {
    return RawMemory.getInt(at);
  }

  /** The whole key: of remote memory. */
  public static int key(long at) {
    return RawMemory.getInt(at + 0x04);
  }

  /** The bits of a key that a local buffer has. */
  public static int localKey(long at) {
    return RawMemory.getInt(at + 0x04) & 0xffffff;
  }

  /** First byte. */
  public static long address(long at) {
    return RawMemory.getLong(at + 0x08);
  }

  /** Writes remote memory. */
  public static void write(long at, int length, int key, long address) {
    RawMemory.putLong(at, (long) key << 32 | (length & 0xffffffffL));
    RawMemory.putLong(at + 0x08, address);
  }

  /** Writes a local buffer. */
  public static void writeLocal(long at, int length, int localKey, long address) {
    RawMemory.putLong(at, (localKey & 0xffffffL) << 32 | (length & 0xffffffffL));
    RawMemory.putLong(at + 0x08, address);
  }
}
