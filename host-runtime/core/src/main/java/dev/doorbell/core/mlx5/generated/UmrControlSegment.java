package dev.doorbell.core.mlx5.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * The segment behind the control segment of UMR: {@code struct mlx5_wqe_umr_ctrl_seg}. Big-endian.
 *
 * <p>Written by FormatsTest from src/main/formats/mlx5.txt.
 */
@Generated("FormatsTest")
public class UmrControlSegment {
  /** Bytes of the structure. */
  public static final int BYTES = 48;

  public static final int FLAGS_OFFSET = 0x00;

  public static final int FIELD_MASK_OFFSET = 0x08;

  /** Flag: the list of memory follows in the WQE. */
  public static final int INLINE = 1 << 7;

  /** Flag: fails unless the key is free. */
  public static final int CHECK_FREE = 1 << 5;

  /** Flag: fails unless the key belongs to the queue pair. */
  public static final int CHECK_QPN = 1 << 3;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 31 24 flags|
4 31 16 klm octowords|
8 63 0 mkey mask|
16 -1 32 reserved|
""";

  protected UmrControlSegment() {}

  /** {@link #INLINE}, {@link #CHECK_FREE}, {@link #CHECK_QPN} and others. */
  public static int flags(long at) {
    return BigEndian.getInt(at) >>> 24;
  }

  /** Length of the list of memory, in units of 16 bytes. */
  public static int listOctowords(long at) {
    return BigEndian.getInt(at + 0x04) >>> 16;
  }

  /** The fields of the key that are changed. */
  public static long fieldMask(long at) {
    return BigEndian.getLong(at + 0x08);
  }

  /** Shows the fields in one line. */
  public static String line(long at) {
    return "umr flags=0x%02x klms=%d mask=0x%x"
        .formatted(flags(at), listOctowords(at), fieldMask(at));
  }
}
