package dev.doorbell.core.mlx5.generated;

import javax.annotation.processing.Generated;

/**
 * The last two words of a CQE, of every opcode.
 *
 * <p>Written by FormatsTest from src/main/formats/mlx5.txt.
 */
@Generated("FormatsTest")
public class CqeTail {
  /** Bytes of the structure. */
  public static final int BYTES = 64;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
56 31 24 WQE opcode|
56 23 0 qpn|
60 31 16 wqe_counter|
60 15 8 signature|
60 7 4 op_own: opcode|
60 3 2 op_own: format|
60 1 1 op_own: solicited|
60 0 0 op_own: owner|
""";

  protected CqeTail() {}
}
