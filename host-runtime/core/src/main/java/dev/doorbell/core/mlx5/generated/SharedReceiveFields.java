package dev.doorbell.core.mlx5.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * The segment that begins every WQE of a shared receive queue: {@code struct
 * mlx5_wqe_srq_next_seg}. Big-endian. Data segments follow.
 *
 * <p>Written by FormatsTest from src/main/formats/mlx5.txt.
 */
@Generated("FormatsTest")
public class SharedReceiveFields {
  /** Bytes of the structure. */
  public static final int BYTES = 16;

  public static final int NEXT_OFFSET = 0x02;

  protected SharedReceiveFields() {}

  /** The index of the WQE after this one in the list. */
  public static int next(long at) {
    return BigEndian.getShort(at + 0x02) & 0xffff;
  }

  /** Writes all 16 bytes. */
  public static void write(long at, int next) {
    BigEndian.putLong(at, (next & 0xffffL) << 32);
    BigEndian.putLong(at + 0x08, 0);
  }
}
