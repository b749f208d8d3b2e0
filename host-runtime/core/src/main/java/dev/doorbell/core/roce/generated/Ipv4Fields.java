package dev.doorbell.core.roce.generated;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import javax.annotation.processing.Generated;

/**
 * The IPv4 header (RFC 791). RoCEv2 sends it without options.
 *
 * <p>Written by FormatsTest from src/main/formats/roce.txt.
 */
@Generated("FormatsTest")
public class Ipv4Fields {
  /** Bytes of the structure. */
  public static final int BYTES = 20;

  public static final int TRAFFIC_CLASS_OFFSET = 0x01;

  public static final int TOTAL_LENGTH_OFFSET = 0x02;

  public static final int IDENTIFICATION_OFFSET = 0x04;

  public static final int FRAGMENT_OFFSET = 0x06;

  public static final int TTL_OFFSET = 0x08;

  public static final int PROTOCOL_OFFSET = 0x09;

  public static final int CHECKSUM_OFFSET = 0x0a;

  public static final int SOURCE_OFFSET = 0x0c;

  public static final int DESTINATION_OFFSET = 0x10;

  /** Protocol number of UDP. */
  public static final int UDP = 17;

  protected Ipv4Fields() {}

  /** The version, 4. */
  public static int version(long at) {
    return RawMemory.getByte(at) >>> 4 & 0xf;
  }

  /** Header length in 32-bit words. */
  public static int words(long at) {
    return RawMemory.getByte(at) & 0xf;
  }

  /** DSCP in bits 7:2, ECN in bits 1:0. */
  public static int trafficClass(long at) {
    return RawMemory.getByte(at + 0x01) & 0xff;
  }

  /** Bytes of header and payload. */
  public static int totalLength(long at) {
    return BigEndian.getShort(at + 0x02) & 0xffff;
  }

  /** Identification; 0 from a sender that sets DF, by RFC 6864; the ICRC covers it. */
  public static int identification(long at) {
    return BigEndian.getShort(at + 0x04) & 0xffff;
  }

  /** The DF bit. */
  public static boolean dontFragment(long at) {
    return (BigEndian.getShort(at + 0x06) >>> 14 & 1) != 0;
  }

  /** MF and the fragment's offset; 0 for a whole datagram. */
  public static int fragment(long at) {
    return BigEndian.getShort(at + 0x06) & 0x3fff;
  }

  /** Time to live. */
  public static int ttl(long at) {
    return RawMemory.getByte(at + 0x08) & 0xff;
  }

  /** Protocol number. */
  public static int protocol(long at) {
    return RawMemory.getByte(at + 0x09) & 0xff;
  }

  /** Header checksum. */
  public static int checksum(long at) {
    return BigEndian.getShort(at + 0x0a) & 0xffff;
  }

  /** Source address. */
  public static int source(long at) {
    return BigEndian.getInt(at + 0x0c);
  }

  /** Destination address. */
  public static int destination(long at) {
    return BigEndian.getInt(at + 0x10);
  }

  /** Writes all 20 bytes of a header for UDP that must not be fragmented; the checksum as 0. */
  public static void writeFields(
      long at,
      int trafficClass,
      int totalLength,
      int identification,
      int ttl,
      int source,
      int destination) {
    BigEndian.putLong(
        at,
        (long) 4 << 60
            | (long) 5 << 56
            | (trafficClass & 0xffL) << 48
            | (totalLength & 0xffffL) << 32
            | (identification & 0xffffL) << 16
            | (long) 1 << 14);
    BigEndian.putLong(at + 0x08, (long) ttl << 56 | (long) UDP << 48 | (source & 0xffffffffL));
    BigEndian.putInt(at + 0x10, destination);
  }

  /** Writes the header checksum. */
  public static void putChecksum(long at, int checksum) {
    BigEndian.putShort(at + 0x0a, (short) (checksum));
  }
}
