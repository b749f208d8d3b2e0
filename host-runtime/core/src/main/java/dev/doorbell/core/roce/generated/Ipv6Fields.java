package dev.doorbell.core.roce.generated;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import javax.annotation.processing.Generated;

/**
 * The IPv6 header (RFC 8200); RoCE version 1 and InfiniBand have the same bytes as the global route
 * header (GRH), with the GIDs as addresses.
 *
 * <p>Written by FormatsTest from src/main/formats/roce.txt.
 */
@Generated("FormatsTest")
public class Ipv6Fields {
  /** Bytes of the structure. */
  public static final int BYTES = 40;

  public static final int PAYLOAD_LENGTH_OFFSET = 0x04;

  public static final int NEXT_HEADER_OFFSET = 0x06;

  public static final int HOP_LIMIT_OFFSET = 0x07;

  public static final int SOURCE_OFFSET = 8;

  public static final int DESTINATION_OFFSET = 24;

  /** Next header of UDP. */
  public static final int UDP = 17;

  /** Next header of ICMPv6. */
  public static final int ICMPV6 = 58;

  /** Next header of the base transport header, in a GRH. */
  public static final int IBA_TRANSPORT = 0x1b;

  protected Ipv6Fields() {}

  /** The version, 6. */
  public static int version(long at) {
    return BigEndian.getInt(at) >>> 28;
  }

  /** DSCP in bits 7:2, ECN in bits 1:0. */
  public static int trafficClass(long at) {
    return BigEndian.getInt(at) >>> 20 & 0xff;
  }

  /** Flow label. */
  public static int flowLabel(long at) {
    return BigEndian.getInt(at) & 0xfffff;
  }

  /** Bytes after the header. */
  public static int payloadLength(long at) {
    return BigEndian.getShort(at + 0x04) & 0xffff;
  }

  /** Next header. */
  public static int nextHeader(long at) {
    return RawMemory.getByte(at + 0x06) & 0xff;
  }

  /** Hop limit. */
  public static int hopLimit(long at) {
    return RawMemory.getByte(at + 0x07) & 0xff;
  }

  /** Source address, first half. */
  public static long sourceHigh(long at) {
    return BigEndian.getLong(at + 0x08);
  }

  /** Source address, second half. */
  public static long sourceLow(long at) {
    return BigEndian.getLong(at + 0x10);
  }

  /** Destination address, first half. */
  public static long destinationHigh(long at) {
    return BigEndian.getLong(at + 0x18);
  }

  /** Destination address, second half. */
  public static long destinationLow(long at) {
    return BigEndian.getLong(at + 0x20);
  }

  /** Writes all 40 bytes. */
  public static void write(
      long at,
      int trafficClass,
      int flowLabel,
      int payloadLength,
      int nextHeader,
      int hopLimit,
      long sourceHigh,
      long sourceLow,
      long destinationHigh,
      long destinationLow) {
    BigEndian.putLong(
        at,
        (long) 6 << 60
            | (trafficClass & 0xffL) << 52
            | (flowLabel & 0xfffffL) << 32
            | (payloadLength & 0xffffL) << 16
            | (nextHeader & 0xffL) << 8
            | (hopLimit & 0xffL));
    BigEndian.putLong(at + 0x08, sourceHigh);
    BigEndian.putLong(at + 0x10, sourceLow);
    BigEndian.putLong(at + 0x18, destinationHigh);
    BigEndian.putLong(at + 0x20, destinationLow);
  }
}
