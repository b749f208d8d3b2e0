package dev.doorbell.core.roce.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * The RDMA extended transport header of WRITEs and READ requests.
 *
 * <p>Written by FormatsTest from src/main/formats/roce.txt.
 */
@Generated("FormatsTest")
public class Reth {
  /** Bytes of the structure. */
  public static final int BYTES = 16;

  public static final int ADDRESS_OFFSET = 0x00;

  public static final int RKEY_OFFSET = 0x08;

  public static final int LENGTH_OFFSET = 0x0c;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 63 0 RETH virtual address|
8 31 0 R_Key|
12 31 0 DMA length|bytes of the whole message
""";

  protected Reth() {}

  /** Virtual address. */
  public static long virtualAddress(long at) {
    return BigEndian.getLong(at);
  }

  /** The R_Key. */
  public static int rkey(long at) {
    return BigEndian.getInt(at + 0x08);
  }

  /** Bytes of the whole message, padding not counted; unsigned 32 bits. */
  public static int length(long at) {
    return BigEndian.getInt(at + 0x0c);
  }

  /** Writes all 16 bytes. */
  public static void write(long at, long virtualAddress, int rkey, int length) {
    BigEndian.putLong(at, virtualAddress);
    BigEndian.putLong(at + 0x08, (long) rkey << 32 | (length & 0xffffffffL));
  }

  /** Shows the fields in one line. */
  public static String line(long at) {
    return "va=0x%x rkey=0x%08x len=%s"
        .formatted(virtualAddress(at), rkey(at), Integer.toUnsignedString(length(at)));
  }
}
