package dev.doorbell.core.roce.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * Immediate data, in the byte order that the verbs' {@code imm_data} has.
 *
 * <p>Written by FormatsTest from src/main/formats/roce.txt.
 */
@Generated("FormatsTest")
public class ImmDt {
  /** Bytes of the structure. */
  public static final int BYTES = 4;

  public static final int IMMEDIATE_OFFSET = 0x00;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 31 0 ImmDt|
""";

  protected ImmDt() {}

  /** Immediate data. */
  public static int immediate(long at) {
    return BigEndian.getInt(at);
  }

  /** Writes all 4 bytes. */
  public static void write(long at, int immediate) {
    BigEndian.putInt(at, immediate);
  }

  /** Shows the fields in one line. */
  public static String line(long at) {
    return "imm=0x%08x".formatted(immediate(at));
  }
}
