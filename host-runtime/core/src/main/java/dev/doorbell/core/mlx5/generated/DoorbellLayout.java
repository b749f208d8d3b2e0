package dev.doorbell.core.mlx5.generated;

import javax.annotation.processing.Generated;

/**
 * The send doorbell for printers. Big-endian.
 *
 * <p>Written by FormatsTest from src/main/formats/mlx5.txt.
 */
@Generated("FormatsTest")
public class DoorbellLayout {
  /** Bytes of the structure. */
  public static final int BYTES = 8;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 31 24 ignored|
0 23 8 index|
0 7 0 ignored|the opcode, where a control segment is stored
4 31 8 qpn|
4 7 0 ignored|DS, where a control segment is stored
""";

  protected DoorbellLayout() {}
}
