package dev.doorbell.core.roce;

import dev.doorbell.core.memory.BigEndian;

/**
 * The datagram extended transport header.
 *
 * <pre>
 *   31             24 23                                            0
 *  +----------------------------------------------------------------+
 *  | Q_Key                                                          |  0
 *  +-----------------+----------------------------------------------+
 *  | reserved        | source queue pair                            |  4
 *  +-----------------+----------------------------------------------+
 * </pre>
 */
public final class Deth {
  /** Bytes of the header. */
  public static final int BYTES = 8;

  public static final int QKEY_OFFSET = 0;
  public static final int SOURCE_OFFSET = 4;

  private Deth() {}

  public static int qkey(long address) {
    return BigEndian.getInt(address + QKEY_OFFSET);
  }

  public static int sourceQueuePair(long address) {
    return BigEndian.getInt(address + SOURCE_OFFSET) & Bth.MASK_24;
  }

  /** Writes all 8 bytes. */
  public static void write(long address, int qkey, int source) {
    BigEndian.putInt(address + QKEY_OFFSET, qkey);
    BigEndian.putInt(address + SOURCE_OFFSET, source & Bth.MASK_24);
  }
}
