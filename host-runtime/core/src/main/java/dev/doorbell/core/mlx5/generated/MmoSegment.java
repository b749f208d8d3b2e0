package dev.doorbell.core.mlx5.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * The segment behind the control segment of MMO: the start of {@code struct mlx5_mmo_wqe} of
 * rdma-core providers/mlx5/wqe.h, behind which source and destination follow as data segments.
 *
 * <p>Written by FormatsTest from src/main/formats/mlx5.txt.
 */
@Generated("FormatsTest")
public class MmoSegment {
  /** Bytes of the structure. */
  public static final int BYTES = 16;

  public static final int CONTROL_OFFSET = 0x00;

  public static final int LKEY_OFFSET = 0x04;

  public static final int ADDRESS_OFFSET = 0x08;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 31 0 mmo control|
4 31 0 lkey|
8 63 0 result address|
""";

  protected MmoSegment() {}

  /** Details of the operation, beyond the modifier of the opcode. */
  public static int control(long at) {
    return BigEndian.getInt(at);
  }

  /** Key of the result. */
  public static int lkey(long at) {
    return BigEndian.getInt(at + 0x04);
  }

  /** Address of the result. */
  public static long address(long at) {
    return BigEndian.getLong(at + 0x08);
  }

  /** Shows the fields in one line. */
  public static String line(long at) {
    return "mmo control=0x%08x lkey=0x%08x result=0x%x"
        .formatted(control(at), lkey(at), address(at));
  }
}
