package dev.doorbell.core.roce.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * The datagram extended transport header.
 *
 * <p>Written by FormatsTest from src/main/formats/roce.txt.
 */
@Generated("FormatsTest")
public class Deth {
  /** Bytes of the structure. */
  public static final int BYTES = 8;

  public static final int QKEY_OFFSET = 0x00;

  public static final int SOURCE_OFFSET = 0x04;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 31 0 DETH qkey|
4 31 24 reserved|
4 23 0 source queue pair|
""";

  protected Deth() {}

  /** The Q_Key. */
  public static int qkey(long at) {
    return BigEndian.getInt(at);
  }

  /** Source queue pair. */
  public static int sourceQueuePair(long at) {
    return BigEndian.getInt(at + 0x04) & 0xffffff;
  }

  /** Writes all 8 bytes. */
  public static void write(long at, int qkey, int sourceQueuePair) {
    BigEndian.putLong(at, (long) qkey << 32 | (sourceQueuePair & 0xffffffL));
  }

  /** Shows the fields in one line. */
  public static String line(long at) {
    return "qkey=0x%08x srcqp=0x%06x".formatted(qkey(at), sourceQueuePair(at));
  }
}
