package dev.doorbell.core.mlx5.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * The Ethernet segment of a send on a queue pair of {@code core.hca.Transport#RAW_PACKET}: {@code
 * struct mlx5_wqe_eth_seg}. Big-endian; follows the control segment. The frame begins with the
 * inline header, if there is one, and goes on in data segments.
 *
 * <p>Written by FormatsTest from src/main/formats/mlx5.txt.
 */
@Generated("FormatsTest")
public class EthernetFields {
  /** Bytes of the structure. */
  public static final int BYTES = 14;

  public static final int CHECKSUMS_OFFSET = 0x04;

  public static final int HEADER_BYTES_OFFSET = 0x0c;

  /** Offset of the inline header. */
  public static final int HEADER_OFFSET = 0x0e;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 31 0 reserved|
4 31 24 cs_flags|0x40 layer 3, 0x80 layer 4
4 15 0 mss|
8 31 0 flow table metadata|
12 25 16 inline header bytes|
12 15 0 inline header, its start|
""";

  protected EthernetFields() {}

  /** {@code cs_flags}: 0x40 for the checksum of layer 3, 0x80 for that of layer 4. */
  public static int checksums(long at) {
    return BigEndian.getInt(at + 0x04) >>> 24;
  }

  /** Bytes of a segment of TSO, else 0. */
  public static int segmentBytes(long at) {
    return BigEndian.getInt(at + 0x04) & 0xffff;
  }

  /** Bytes of the inline header. */
  public static int headerBytes(long at) {
    return BigEndian.getShort(at + 0x0c) & 0x3ff;
  }

  /** Writes the first 14 bytes of a segment whose inline header the caller adds. */
  public static void write(long at, int headerBytes) {
    BigEndian.putLong(at, 0);
    BigEndian.putInt(at + 0x08, 0);
    BigEndian.putShort(at + 0x0c, (short) ((headerBytes & 0x3ff)));
  }

  /** Shows the fields in one line. */
  public static String line(long at) {
    return "cs_flags=0x%02x mss=%d header=%d"
        .formatted(checksums(at), segmentBytes(at), headerBytes(at));
  }
}
