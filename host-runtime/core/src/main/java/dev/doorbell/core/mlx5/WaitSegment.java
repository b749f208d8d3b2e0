package dev.doorbell.core.mlx5;

import dev.doorbell.core.memory.BigEndian;

/**
 * What {@link Opcode#WAIT} waits for: the core-direct wait segment of GPUNetIO's
 * doca_gpunetio_verbs_def.h, which rdma-core does not define. Big-endian.
 *
 * <pre>
 *   31                                                              0
 *  +----------------------------------------------------------------+
 *  |                   reserved, any content                        |  0
 *  +                                                                +
 *  |                                                                |  4
 *  +----------------------------------------------------------------+
 *  |                          max_index                             |  8
 *  +----------------------------------------------------------------+
 *  |                          cqn or qpn                            | 12
 *  +----------------------------------------------------------------+
 * </pre>
 */
public final class WaitSegment {
  /** Bytes of the segment. */
  public static final int BYTES = 16;

  /** {@code max_index}. */
  public static final int MAX_INDEX_OFFSET = 8;

  /** The word that holds the CQ or QP number. */
  public static final int NUMBER_OFFSET = 12;

  private WaitSegment() {}

  /** The completion queue's index to wait for. */
  public static int maxIndex(long address) {
    return BigEndian.getInt(address + MAX_INDEX_OFFSET);
  }

  /** The 24-bit number of the completion queue. */
  public static int cqn(long address) {
    return BigEndian.getInt(address + NUMBER_OFFSET) & 0xff_ffff;
  }

  /** Writes all 16 bytes, the reserved ones as 0. */
  public static void write(long address, int maxIndex, int cqn) {
    BigEndian.putLong(address, 0);
    BigEndian.putInt(address + MAX_INDEX_OFFSET, maxIndex);
    BigEndian.putInt(address + NUMBER_OFFSET, cqn);
  }
}
