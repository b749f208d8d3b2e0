package dev.doorbell.core.mlx5;

import dev.doorbell.core.memory.BigEndian;

/**
 * The Ethernet segment of a send on a queue pair of {@code core.hca.Transport#RAW_PACKET}: {@code
 * struct mlx5_wqe_eth_seg} of rdma-core providers/mlx5/mlx5dv.h. Big-endian; follows the control
 * segment. The frame begins with the inline header, if there is one, and goes on in data segments.
 *
 * <pre>
 *   31            24 23            16 15                            0
 *  +-----------------------------------------------------------------+
 *  |                           reserved                              |  0x00
 *  +----------------+----------------+-------------------------------+
 *  |    cs_flags    |    reserved    |              mss              |  0x04
 *  +----------------+----------------+-------------------------------+
 *  |                           reserved                              |  0x08
 *  +---------------------------------+-------------------------------+
 *  |          inline_hdr_sz          |  inline header, to the next  ...  0x0c
 *  +---------------------------------+  multiple of 16 bytes         |
 * </pre>
 */
public final class EthernetSegment {
  /** Offset of the checksums that the HCA is to compute: {@code cs_flags}. */
  public static final int CHECKSUMS_OFFSET = 0x04;

  /** Offset of {@code inline_hdr_sz}. */
  public static final int HEADER_BYTES_OFFSET = 0x0c;

  /** Offset of the inline header. */
  public static final int HEADER_OFFSET = 0x0e;

  private static final int SIZE_MASK = 0x3ff;

  private EthernetSegment() {}

  /** {@code cs_flags}: 0x40 for the checksum of layer 3, 0x80 for that of layer 4. */
  public static int checksums(long address) {
    return BigEndian.getInt(address + CHECKSUMS_OFFSET) >>> 24;
  }

  /** Bytes of the inline header. */
  public static int headerBytes(long address) {
    return BigEndian.getShort(address + HEADER_BYTES_OFFSET) & SIZE_MASK;
  }

  /** Units of 16 bytes that the segment takes with a header of {@code headerBytes}. */
  public static int units(int headerBytes) {
    return (HEADER_OFFSET + headerBytes + SendQueue.UNIT - 1) >>> SendQueue.UNIT_SHIFT;
  }

  /** Writes the first 14 bytes of a segment whose inline header the caller adds. */
  public static void write(long address, int headerBytes) {
    BigEndian.putLong(address, 0);
    BigEndian.putInt(address + Long.BYTES, 0);
    BigEndian.putShort(address + HEADER_BYTES_OFFSET, (short) headerBytes);
  }
}
