package dev.doorbell.core.roce;

import dev.doorbell.core.memory.BigEndian;

/**
 * The extended transport header of requests over dynamic connections. NVIDIA publishes no wire
 * format of DC: this one is Doorbell's own, in the manufacturer-specific range of opcodes, and no
 * NIC understands it.
 *
 * <pre>
 *   31             24 23                                            0
 *  +----------------------------------------------------------------+
 *  | access key of the target                                       |  0
 *  +                                                                +
 *  |                                                                |  4
 *  +-----------------+----------------------------------------------+
 *  | log2 of the MTU | initiator's queue pair                       |  8
 *  +-----------------+----------------------------------------------+
 *  | reserved        | PSN of the connection's first packet         |  12
 *  +-----------------+----------------------------------------------+
 *  | connection: larger than that of any earlier one of the HCA     |  16
 *  +                                                                +
 *  |                                                                |  20
 *  +----------------------------------------------------------------+
 * </pre>
 *
 * <p>Every request has the whole header, so that whichever arrives first connects; there is no
 * packet of its own for it.
 */
public final class DcEth {
  /** Bytes of the header. */
  public static final int BYTES = 24;

  public static final int ACCESS_KEY_OFFSET = 0;
  public static final int INITIATOR_OFFSET = 8;
  public static final int FIRST_PSN_OFFSET = 12;
  public static final int CONNECTION_OFFSET = 16;

  private static final int LOG_MTU_SHIFT = 24;

  private DcEth() {}

  public static long accessKey(long address) {
    return BigEndian.getLong(address + ACCESS_KEY_OFFSET);
  }

  public static int initiator(long address) {
    return BigEndian.getInt(address + INITIATOR_OFFSET) & Bth.MASK_24;
  }

  /** Path MTU in bytes. */
  public static int mtu(long address) {
    return 1 << (BigEndian.getInt(address + INITIATOR_OFFSET) >>> LOG_MTU_SHIFT);
  }

  public static int firstPsn(long address) {
    return BigEndian.getInt(address + FIRST_PSN_OFFSET) & Bth.MASK_24;
  }

  public static long connection(long address) {
    return BigEndian.getLong(address + CONNECTION_OFFSET);
  }

  /**
   * Writes all 24 bytes.
   *
   * @param mtu in bytes, a power of two
   */
  public static void write(
      long address, long accessKey, int initiator, int mtu, int firstPsn, long connection) {
    int logMtu = Integer.numberOfTrailingZeros(mtu);
    BigEndian.putLong(address + ACCESS_KEY_OFFSET, accessKey);
    BigEndian.putInt(
        address + INITIATOR_OFFSET, logMtu << LOG_MTU_SHIFT | (initiator & Bth.MASK_24));
    BigEndian.putInt(address + FIRST_PSN_OFFSET, firstPsn & Bth.MASK_24);
    BigEndian.putLong(address + CONNECTION_OFFSET, connection);
  }
}
