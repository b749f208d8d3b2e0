package dev.doorbell.core.efa.generated;

import dev.doorbell.core.memory.RawMemory;
import javax.annotation.processing.Generated;

/**
 * A buffer of a receive queue: {@code struct efa_io_rx_desc}. The queue lies in host memory; its
 * doorbell carries the 16-bit count of entries posted.
 *
 * <p>Written by FormatsTest from src/main/formats/efa.txt.
 */
@Generated("FormatsTest")
public class RxDescriptor {
  /** Bytes of the structure. */
  public static final int BYTES = 16;

  public static final int ADDRESS_OFFSET = 0x00;

  public static final int REQUEST_ID_OFFSET = 0x08;

  public static final int LENGTH_OFFSET = 0x0a;

  public static final int LKEY_CTRL_OFFSET = 0x0c;

  protected RxDescriptor() {}

  /** First byte. */
  public static long address(long at) {
    return RawMemory.getLong(at);
  }

  /** The id that the completion names. */
  public static int requestId(long at) {
    return RawMemory.getShort(at + 0x08) & 0xffff;
  }

  /** Bytes. */
  public static int length(long at) {
    return RawMemory.getShort(at + 0x0a) & 0xffff;
  }

  /** The lkey. */
  public static int key(long at) {
    return RawMemory.getInt(at + 0x0c) & 0xffffff;
  }

  /** First descriptor of a receive. */
  public static boolean isFirst(long at) {
    return (RawMemory.getInt(at + 0x0c) >>> 30 & 1) != 0;
  }

  /** Last descriptor of a receive. */
  public static boolean isLast(long at) {
    return (RawMemory.getInt(at + 0x0c) >>> 31 & 1) != 0;
  }

  /** Writes a receive of one buffer. */
  public static void write(long at, int requestId, long address, int length, int key) {
    RawMemory.putLong(at, address);
    RawMemory.putLong(
        at + 0x08,
        (long) 1 << 63
            | (long) 1 << 62
            | (key & 0xffffffL) << 32
            | (length & 0xffffL) << 16
            | (requestId & 0xffffL));
  }
}
