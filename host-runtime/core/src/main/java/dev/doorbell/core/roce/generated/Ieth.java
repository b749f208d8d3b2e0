package dev.doorbell.core.roce.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * The extended transport header of a SEND that invalidates a key of the receiver.
 *
 * <p>Written by FormatsTest from src/main/formats/roce.txt.
 */
@Generated("FormatsTest")
public class Ieth {
  /** Bytes of the structure. */
  public static final int BYTES = 4;

  public static final int RKEY_OFFSET = 0x00;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 31 0 IETH R_Key|
""";

  protected Ieth() {}

  /** The R_Key. */
  public static int rkey(long at) {
    return BigEndian.getInt(at);
  }

  /** Writes all 4 bytes. */
  public static void write(long at, int rkey) {
    BigEndian.putInt(at, rkey);
  }

  /** Shows the fields in one line. */
  public static String line(long at) {
    return "invalidate_rkey=0x%08x".formatted(rkey(at));
  }
}
