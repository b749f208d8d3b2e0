package dev.doorbell.core.roce.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * The UDP header (RFC 768). Senders of RoCEv2 may leave the checksum 0 over IPv4 and IPv6 alike:
 * the ICRC does its work.
 *
 * <p>Written by FormatsTest from src/main/formats/roce.txt.
 */
@Generated("FormatsTest")
public class UdpFields {
  /** Bytes of the structure. */
  public static final int BYTES = 8;

  public static final int SOURCE_PORT_OFFSET = 0x00;

  public static final int DESTINATION_PORT_OFFSET = 0x02;

  public static final int LENGTH_OFFSET = 0x04;

  public static final int CHECKSUM_OFFSET = 0x06;

  /** Destination port of RoCEv2. */
  public static final int ROCE_PORT = 4791;

  protected UdpFields() {}

  /** Source port. */
  public static int sourcePort(long at) {
    return BigEndian.getShort(at) & 0xffff;
  }

  /** Destination port. */
  public static int destinationPort(long at) {
    return BigEndian.getShort(at + 0x02) & 0xffff;
  }

  /** Bytes of header and payload. */
  public static int length(long at) {
    return BigEndian.getShort(at + 0x04) & 0xffff;
  }

  /** Checksum, or 0. */
  public static int checksum(long at) {
    return BigEndian.getShort(at + 0x06) & 0xffff;
  }

  /** Writes all 8 bytes, the checksum as 0. */
  public static void write(long at, int sourcePort, int destinationPort, int length) {
    BigEndian.putLong(
        at, (long) sourcePort << 48 | (destinationPort & 0xffffL) << 32 | (length & 0xffffL) << 16);
  }
}
