package dev.doorbell.core.roce;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;

/**
 * The IPv4 header (RFC 791). RoCEv2 sends it without options.
 *
 * <pre>
 *   31    28 27    24 23          18 17 16 15                       0
 *  +--------+--------+--------------+-----+-------------------------+
 *  | 4      | IHL    | DSCP         | ECN | total length            |  0
 *  +--------+--------+--------------+-----+--+--+--+----------------+
 *  | identification                       | 0|DF|MF| offset         |  4
 *  +-----------------+--------------------+--+--+--+----------------+
 *  | time to live    | protocol           | header checksum         |  8
 *  +-----------------+--------------------+-------------------------+
 *  | source                                                         | 12
 *  +----------------------------------------------------------------+
 *  | destination                                                    | 16
 *  +----------------------------------------------------------------+
 * </pre>
 */
public final class Ipv4Header {
  /** Bytes of the header without options. */
  public static final int BYTES = 20;

  public static final int TRAFFIC_CLASS_OFFSET = 1;
  public static final int TOTAL_LENGTH_OFFSET = 2;
  public static final int IDENTIFICATION_OFFSET = 4;
  public static final int FRAGMENT_OFFSET = 6;
  public static final int TTL_OFFSET = 8;
  public static final int PROTOCOL_OFFSET = 9;
  public static final int CHECKSUM_OFFSET = 10;
  public static final int SOURCE_OFFSET = 12;
  public static final int DESTINATION_OFFSET = 16;

  /** Protocol number of UDP. */
  public static final int UDP = 17;

  private static final int DONT_FRAGMENT = 0x4000;
  private static final int FRAGMENT_MASK = 0x3fff;

  private Ipv4Header() {}

  public static int version(long address) {
    return (RawMemory.getByte(address) >> 4) & 0xf;
  }

  /** Bytes of the header with its options. */
  public static int headerBytes(long address) {
    return (RawMemory.getByte(address) & 0xf) * Integer.BYTES;
  }

  /** DSCP in bits 7:2, ECN in bits 1:0. */
  public static int trafficClass(long address) {
    return RawMemory.getByte(address + TRAFFIC_CLASS_OFFSET) & 0xff;
  }

  /** Bytes of header and payload. */
  public static int totalLength(long address) {
    return BigEndian.getShort(address + TOTAL_LENGTH_OFFSET) & 0xffff;
  }

  public static int identification(long address) {
    return BigEndian.getShort(address + IDENTIFICATION_OFFSET) & 0xffff;
  }

  public static boolean dontFragment(long address) {
    return (BigEndian.getShort(address + FRAGMENT_OFFSET) & DONT_FRAGMENT) != 0;
  }

  /** True for a part of a larger datagram. */
  public static boolean isFragment(long address) {
    return (BigEndian.getShort(address + FRAGMENT_OFFSET) & FRAGMENT_MASK) != 0;
  }

  public static int ttl(long address) {
    return RawMemory.getByte(address + TTL_OFFSET) & 0xff;
  }

  public static int protocol(long address) {
    return RawMemory.getByte(address + PROTOCOL_OFFSET) & 0xff;
  }

  public static int checksum(long address) {
    return BigEndian.getShort(address + CHECKSUM_OFFSET) & 0xffff;
  }

  public static int source(long address) {
    return BigEndian.getInt(address + SOURCE_OFFSET);
  }

  public static int destination(long address) {
    return BigEndian.getInt(address + DESTINATION_OFFSET);
  }

  /**
   * Writes all 20 bytes of a header for UDP that must not be fragmented, with its checksum.
   *
   * @param totalLength bytes of header and payload
   * @param identification 0 from a sender that sets DF, by RFC 6864; the ICRC covers it
   */
  public static void write(
      long address,
      int trafficClass,
      int totalLength,
      int identification,
      int ttl,
      int source,
      int destination) {
    BigEndian.putInt(address, 0x4500_0000 | (trafficClass & 0xff) << 16 | (totalLength & 0xffff));
    BigEndian.putInt(address + IDENTIFICATION_OFFSET, identification << 16 | DONT_FRAGMENT);
    BigEndian.putInt(address + TTL_OFFSET, ttl << 24 | UDP << 16);
    BigEndian.putInt(address + SOURCE_OFFSET, source);
    BigEndian.putInt(address + DESTINATION_OFFSET, destination);
    putChecksum(address);
  }

  /** Computes and writes the header checksum. */
  public static void putChecksum(long address) {
    BigEndian.putShort(address + CHECKSUM_OFFSET, (short) 0);
    BigEndian.putShort(
        address + CHECKSUM_OFFSET, (short) InternetChecksum.of(address, headerBytes(address)));
  }

  /** True when the checksum in the header is right. */
  public static boolean isChecksumRight(long address) {
    return InternetChecksum.of(address, headerBytes(address)) == 0;
  }
}
