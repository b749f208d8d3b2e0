package dev.doorbell.core.mlx5.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * The condition of WAIT: the core-direct wait segment of GPUNetIO's doca_gpunetio_verbs_def.h,
 * which rdma-core does not define. Big-endian.
 *
 * <p>Written by FormatsTest from src/main/formats/mlx5.txt.
 */
@Generated("FormatsTest")
public class WaitSegment {
  /** Bytes of the structure. */
  public static final int BYTES = 16;

  public static final int MAX_INDEX_OFFSET = 0x08;

  public static final int NUMBER_OFFSET = 0x0c;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 -1 8 reserved|
8 31 0 max_index|wait until the CQ's index gets there
12 31 24 reserved|
12 23 0 cqn|
""";

  protected WaitSegment() {}

  /** The completion queue's index to wait for. */
  public static int maxIndex(long at) {
    return BigEndian.getInt(at + 0x08);
  }

  /** The 24-bit number of the completion queue. */
  public static int cqn(long at) {
    return BigEndian.getInt(at + 0x0c) & 0xffffff;
  }

  /** Writes all 16 bytes, the reserved ones as 0. */
  public static void write(long at, int maxIndex, int cqn) {
    BigEndian.putLong(at, 0);
    BigEndian.putLong(at + 0x08, (long) maxIndex << 32 | (cqn & 0xffffffL));
  }

  /** Shows the fields in one line. */
  public static String line(long at) {
    return "max_index=%d cqn=0x%06x".formatted(maxIndex(at), cqn(at));
  }
}
