package dev.doorbell.core.roce;

import dev.doorbell.core.memory.BigEndian;

/**
 * The extended transport header of a SEND that invalidates a key of the receiver.
 *
 * <pre>
 *   31                                                              0
 *  +----------------------------------------------------------------+
 *  | R_Key                                                          |  0
 *  +----------------------------------------------------------------+
 * </pre>
 */
public final class Ieth {
  /** Bytes of the header. */
  public static final int BYTES = 4;

  private Ieth() {}

  public static int rkey(long address) {
    return BigEndian.getInt(address);
  }

  /** Writes all 4 bytes. */
  public static void write(long address, int value) {
    BigEndian.putInt(address, value);
  }
}
