package dev.doorbell.core.efa;

import dev.doorbell.core.memory.RawMemory;

/**
 * A buffer of a receive queue: {@code struct efa_io_rx_desc} (rdma-core
 * providers/efa/efa_io_defs.h). The queue lies in host memory; its doorbell carries the 16-bit
 * count of entries posted.
 *
 * <pre>
 *   31 30 29     24 23                                              0
 *  +------------------------------------------------------------------+
 *  |                           buf_addr_lo                            |  0
 *  +------------------------------------------------------------------+
 *  |                           buf_addr_hi                            |  4
 *  +--------------------------------+---------------------------------+
 *  |             length             |             req_id              |  8
 *  +--+--+---------+----------------+---------------------------------+
 *  | L| F|    0    |                     lkey                         | 12
 *  +--+--+---------+--------------------------------------------------+
 * </pre>
 *
 * <p>F and L: the first and the last descriptor of a receive.
 */
public final class RxDescriptor {
  public static final int BYTES = 16;

  public static final int ADDRESS_OFFSET = 0;
  public static final int REQUEST_ID_OFFSET = 8;
  public static final int LENGTH_OFFSET = 10;
  public static final int LKEY_CTRL_OFFSET = 12;

  private static final int FIRST = 1 << 30;
  private static final int LAST = 1 << 31;

  private RxDescriptor() {}

  public static long address(long at) {
    return RawMemory.getLong(at + ADDRESS_OFFSET);
  }

  public static int requestId(long at) {
    return RawMemory.getShort(at + REQUEST_ID_OFFSET) & 0xffff;
  }

  public static int length(long at) {
    return RawMemory.getShort(at + LENGTH_OFFSET) & 0xffff;
  }

  public static int key(long at) {
    return RawMemory.getInt(at + LKEY_CTRL_OFFSET) & TxWqe.LKEY_MASK;
  }

  public static boolean isFirst(long at) {
    return (RawMemory.getInt(at + LKEY_CTRL_OFFSET) & FIRST) != 0;
  }

  public static boolean isLast(long at) {
    return (RawMemory.getInt(at + LKEY_CTRL_OFFSET) & LAST) != 0;
  }

  /** Writes a receive of one buffer. */
  public static void write(long at, int requestId, long address, int length, int key) {
    RawMemory.putLong(at + ADDRESS_OFFSET, address);
    RawMemory.putShort(at + REQUEST_ID_OFFSET, (short) requestId);
    RawMemory.putShort(at + LENGTH_OFFSET, (short) length);
    RawMemory.putInt(at + LKEY_CTRL_OFFSET, (key & TxWqe.LKEY_MASK) | FIRST | LAST);
  }
}
