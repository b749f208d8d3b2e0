package dev.doorbell.core.roce;

import dev.doorbell.core.memory.BigEndian;

/**
 * The extended transport header of requests on extended reliable connections (InfiniBand, annex
 * A14): 8 reserved bits and the number of the shared receive queue.
 */
public final class XrcEth {
  /** Bytes of the header. */
  public static final int BYTES = 4;

  private XrcEth() {}

  public static int sharedQueue(long address) {
    return BigEndian.getInt(address) & Bth.MASK_24;
  }

  /** Writes all 4 bytes. */
  public static void write(long address, int sharedQueue) {
    BigEndian.putInt(address, sharedQueue & Bth.MASK_24);
  }
}
