package dev.doorbell.core.mlx5.generated;

import javax.annotation.processing.Generated;

/**
 * The doorbell record of a queue pair for printers. Big-endian.
 *
 * <p>Written by FormatsTest from src/main/formats/mlx5.txt.
 */
@Generated("FormatsTest")
public class RecordLayout {
  /** Bytes of the structure. */
  public static final int BYTES = 8;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 31 16 0|
0 15 0 receive counter|
4 31 16 0|
4 15 0 send counter|
""";

  protected RecordLayout() {}
}
