package dev.doorbell.core.roce;

import dev.doorbell.core.memory.BigEndian;

/**
 * The extended transport header of COMPARE_SWAP and FETCH_ADD.
 *
 * <pre>
 *   31                                                              0
 *  +----------------------------------------------------------------+
 *  | virtual address, 8 bytes                                       |  0
 *  +----------------------------------------------------------------+
 *  | R_Key                                                          |  8
 *  +----------------------------------------------------------------+
 *  | what to swap in or to add, 8 bytes                             | 12
 *  +----------------------------------------------------------------+
 *  | what to compare with, 8 bytes                                  | 20
 *  +----------------------------------------------------------------+
 * </pre>
 */
public final class AtomicEth {
  /** Bytes of the header. */
  public static final int BYTES = 28;

  public static final int ADDRESS_OFFSET = 0;
  public static final int RKEY_OFFSET = 8;
  public static final int SWAP_ADD_OFFSET = 12;
  public static final int COMPARE_OFFSET = 20;

  private AtomicEth() {}

  public static long virtualAddress(long address) {
    return BigEndian.getLong(address + ADDRESS_OFFSET);
  }

  public static int rkey(long address) {
    return BigEndian.getInt(address + RKEY_OFFSET);
  }

  public static long swapAdd(long address) {
    return BigEndian.getLong(address + SWAP_ADD_OFFSET);
  }

  public static long compare(long address) {
    return BigEndian.getLong(address + COMPARE_OFFSET);
  }

  /** Writes all 28 bytes. */
  public static void write(
      long address, long virtualAddress, int rkey, long swapAdd, long compare) {
    BigEndian.putLong(address + ADDRESS_OFFSET, virtualAddress);
    BigEndian.putInt(address + RKEY_OFFSET, rkey);
    BigEndian.putLong(address + SWAP_ADD_OFFSET, swapAdd);
    BigEndian.putLong(address + COMPARE_OFFSET, compare);
  }
}
