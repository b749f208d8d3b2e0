package dev.doorbell.core.roce;

import dev.doorbell.core.memory.BigEndian;

/**
 * Immediate data, in the byte order that the verbs' {@code imm_data} has.
 *
 * <pre>
 *   31                                                              0
 *  +----------------------------------------------------------------+
 *  | immediate data                                                 |  0
 *  +----------------------------------------------------------------+
 * </pre>
 */
public final class ImmDt {
  /** Bytes of the header. */
  public static final int BYTES = 4;

  private ImmDt() {}

  public static int immediate(long address) {
    return BigEndian.getInt(address);
  }

  /** Writes all 4 bytes. */
  public static void write(long address, int value) {
    BigEndian.putInt(address, value);
  }
}
