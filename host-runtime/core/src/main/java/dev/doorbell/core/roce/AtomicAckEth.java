package dev.doorbell.core.roce;

import dev.doorbell.core.memory.BigEndian;

/**
 * The extended transport header of an answer to an atomic, after its {@link Aeth}.
 *
 * <pre>
 *   31                                                              0
 *  +----------------------------------------------------------------+
 *  | what the cell held before, 8 bytes                             |  0
 *  +----------------------------------------------------------------+
 * </pre>
 */
public final class AtomicAckEth {
  /** Bytes of the header. */
  public static final int BYTES = 8;

  private AtomicAckEth() {}

  public static long original(long address) {
    return BigEndian.getLong(address);
  }

  /** Writes all 8 bytes. */
  public static void write(long address, long value) {
    BigEndian.putLong(address, value);
  }
}
