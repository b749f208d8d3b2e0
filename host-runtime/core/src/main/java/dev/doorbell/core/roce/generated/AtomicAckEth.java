package dev.doorbell.core.roce.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * The extended transport header of an answer to an atomic, after its AETH.
 *
 * <p>Written by FormatsTest from src/main/formats/roce.txt.
 */
@Generated("FormatsTest")
public class AtomicAckEth {
  /** Bytes of the structure. */
  public static final int BYTES = 8;

  public static final int ORIGINAL_OFFSET = 0x00;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 63 0 AtomicAckETH original|
""";

  protected AtomicAckEth() {}

  /** The cell's value before the operation. */
  public static long original(long at) {
    return BigEndian.getLong(at);
  }

  /** Writes all 8 bytes. */
  public static void write(long at, long original) {
    BigEndian.putLong(at, original);
  }

  /** Shows the fields in one line. */
  public static String line(long at) {
    return "original=0x%x".formatted(original(at));
  }
}
