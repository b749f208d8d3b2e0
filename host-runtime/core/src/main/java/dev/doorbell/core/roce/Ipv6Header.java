package dev.doorbell.core.roce;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;

/**
 * The IPv6 header (RFC 8200); RoCE version 1 and InfiniBand have the same bytes as the global route
 * header (GRH), with the GIDs as addresses.
 *
 * <pre>
 *   31   28 27            22 21 20 19                               0
 *  +-------+----------------+-----+---------------------------------+
 *  | 6     | DSCP           | ECN | flow label                      |  0
 *  +-------+----------------+-----+--+---------------+--------------+
 *  | payload length                  | next header   | hop limit    |  4
 *  +---------------------------------+---------------+--------------+
 *  | source, 16 bytes                                               |  8
 *  +----------------------------------------------------------------+
 *  | destination, 16 bytes                                          | 24
 *  +----------------------------------------------------------------+
 * </pre>
 */
public final class Ipv6Header {
  /** Bytes of the header. */
  public static final int BYTES = 40;

  public static final int PAYLOAD_LENGTH_OFFSET = 4;
  public static final int NEXT_HEADER_OFFSET = 6;
  public static final int HOP_LIMIT_OFFSET = 7;
  public static final int SOURCE_OFFSET = 8;
  public static final int DESTINATION_OFFSET = 24;

  /** Next header of UDP. */
  public static final int UDP = 17;

  /** Next header of ICMPv6. */
  public static final int ICMPV6 = 58;

  /** Next header of the base transport header, in a GRH. */
  public static final int IBA_TRANSPORT = 0x1b;

  private Ipv6Header() {}

  public static int version(long address) {
    return (RawMemory.getByte(address) >> 4) & 0xf;
  }

  /** DSCP in bits 7:2, ECN in bits 1:0. */
  public static int trafficClass(long address) {
    return BigEndian.getInt(address) >>> 20 & 0xff;
  }

  public static int flowLabel(long address) {
    return BigEndian.getInt(address) & 0xf_ffff;
  }

  /** Bytes after the header. */
  public static int payloadLength(long address) {
    return BigEndian.getShort(address + PAYLOAD_LENGTH_OFFSET) & 0xffff;
  }

  public static int nextHeader(long address) {
    return RawMemory.getByte(address + NEXT_HEADER_OFFSET) & 0xff;
  }

  public static int hopLimit(long address) {
    return RawMemory.getByte(address + HOP_LIMIT_OFFSET) & 0xff;
  }

  /** Writes all 40 bytes. */
  public static void write(
      long address,
      int trafficClass,
      int flowLabel,
      int payloadLength,
      int nextHeader,
      int hopLimit,
      Gid source,
      Gid destination) {
    BigEndian.putInt(address, 6 << 28 | (trafficClass & 0xff) << 20 | (flowLabel & 0xf_ffff));
    BigEndian.putInt(
        address + PAYLOAD_LENGTH_OFFSET,
        payloadLength << 16 | (nextHeader & 0xff) << 8 | (hopLimit & 0xff));
    source.write(address + SOURCE_OFFSET);
    destination.write(address + DESTINATION_OFFSET);
  }
}
