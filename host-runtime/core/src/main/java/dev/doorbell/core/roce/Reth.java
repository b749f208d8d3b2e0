package dev.doorbell.core.roce;

import dev.doorbell.core.memory.BigEndian;

/**
 * The RDMA extended transport header of WRITEs and READ requests.
 *
 * <pre>
 *   31                                                              0
 *  +----------------------------------------------------------------+
 *  | virtual address, 8 bytes                                       |  0
 *  +----------------------------------------------------------------+
 *  | R_Key                                                          |  8
 *  +----------------------------------------------------------------+
 *  | DMA length of the whole message, padding not counted           | 12
 *  +----------------------------------------------------------------+
 * </pre>
 */
public final class Reth {
  /** Bytes of the header. */
  public static final int BYTES = 16;

  public static final int ADDRESS_OFFSET = 0;
  public static final int RKEY_OFFSET = 8;
  public static final int LENGTH_OFFSET = 12;

  private Reth() {}

  public static long virtualAddress(long address) {
    return BigEndian.getLong(address + ADDRESS_OFFSET);
  }

  public static int rkey(long address) {
    return BigEndian.getInt(address + RKEY_OFFSET);
  }

  /** Unsigned 32 bits. */
  public static int length(long address) {
    return BigEndian.getInt(address + LENGTH_OFFSET);
  }

  /** Writes all 16 bytes. */
  public static void write(long address, long virtualAddress, int rkey, int length) {
    BigEndian.putLong(address + ADDRESS_OFFSET, virtualAddress);
    BigEndian.putInt(address + RKEY_OFFSET, rkey);
    BigEndian.putInt(address + LENGTH_OFFSET, length);
  }
}
