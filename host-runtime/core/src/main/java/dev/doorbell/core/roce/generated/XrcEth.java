package dev.doorbell.core.roce.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * The extended transport header of requests on extended reliable connections (annex A14).
 *
 * <p>Written by FormatsTest from src/main/formats/roce.txt.
 */
@Generated("FormatsTest")
public class XrcEth {
  /** Bytes of the structure. */
  public static final int BYTES = 4;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 31 24 reserved|
0 23 0 XRCETH shared receive queue|
""";

  protected XrcEth() {}

  /** Number of the shared receive queue. */
  public static int sharedQueue(long at) {
    return BigEndian.getInt(at) & 0xffffff;
  }

  /** Writes all 4 bytes. */
  public static void write(long at, int sharedQueue) {
    BigEndian.putInt(at, (sharedQueue & 0xffffff));
  }

  /** Shows the fields in one line. */
  public static String line(long at) {
    return "srq=0x%06x".formatted(sharedQueue(at));
  }
}
