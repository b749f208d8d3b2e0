package dev.doorbell.core.roce.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * The extended transport header of requests over dynamic connections. NVIDIA publishes no wire
 * format of DC: this one is Doorbell's own, in the manufacturer-specific range of opcodes, and no
 * NIC understands it. Every request has the whole header, so that whichever arrives first connects.
 *
 * <p>Written by FormatsTest from src/main/formats/roce.txt.
 */
@Generated("FormatsTest")
public class DcEth {
  /** Bytes of the structure. */
  public static final int BYTES = 24;

  public static final int ACCESS_KEY_OFFSET = 0x00;

  public static final int CONNECTION_OFFSET = 0x10;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 63 0 DC access key|
8 31 24 log MTU|
8 23 0 initiator's queue pair|
12 31 24 reserved|
12 23 0 first PSN of the connection|
16 63 0 connection|
""";

  protected DcEth() {}

  /** Access key of the target. */
  public static long accessKey(long at) {
    return BigEndian.getLong(at);
  }

  /** log2 of the path MTU in bytes. */
  public static int logMtu(long at) {
    return BigEndian.getInt(at + 0x08) >>> 24;
  }

  /** Initiator's queue pair. */
  public static int initiator(long at) {
    return BigEndian.getInt(at + 0x08) & 0xffffff;
  }

  /** PSN of the connection's first packet. */
  public static int firstPsn(long at) {
    return BigEndian.getInt(at + 0x0c) & 0xffffff;
  }

  /** Connection number: larger than that of any earlier one of the HCA. */
  public static long connection(long at) {
    return BigEndian.getLong(at + 0x10);
  }

  /** Writes all 24 bytes. */
  public static void write(
      long at, long accessKey, int initiator, int logMtu, int firstPsn, long connection) {
    BigEndian.putLong(at, accessKey);
    BigEndian.putLong(
        at + 0x08, (long) logMtu << 56 | (initiator & 0xffffffL) << 32 | (firstPsn & 0xffffffL));
    BigEndian.putLong(at + 0x10, connection);
  }

  /** Shows the fields in one line. */
  public static String line(long at) {
    return "dckey=0x%x dci=0x%06x first=0x%06x connection=0x%x"
        .formatted(accessKey(at), initiator(at), firstPsn(at), connection(at));
  }
}
