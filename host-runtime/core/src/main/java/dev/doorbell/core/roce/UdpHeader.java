package dev.doorbell.core.roce;

import dev.doorbell.core.memory.BigEndian;

/**
 * The UDP header (RFC 768).
 *
 * <pre>
 *   31                            16 15                             0
 *  +--------------------------------+-------------------------------+
 *  | source port                    | destination port              |  0
 *  +--------------------------------+-------------------------------+
 *  | length                         | checksum                      |  4
 *  +--------------------------------+-------------------------------+
 * </pre>
 *
 * <p>Senders of RoCEv2 may leave the checksum 0 over IPv4 and IPv6 alike: the ICRC does its work.
 */
public final class UdpHeader {
  /** Bytes of the header. */
  public static final int BYTES = 8;

  /** Destination port of RoCEv2. */
  public static final int ROCE_PORT = 4791;

  public static final int SOURCE_PORT_OFFSET = 0;
  public static final int DESTINATION_PORT_OFFSET = 2;
  public static final int LENGTH_OFFSET = 4;
  public static final int CHECKSUM_OFFSET = 6;

  private UdpHeader() {}

  public static int sourcePort(long address) {
    return BigEndian.getShort(address + SOURCE_PORT_OFFSET) & 0xffff;
  }

  public static int destinationPort(long address) {
    return BigEndian.getShort(address + DESTINATION_PORT_OFFSET) & 0xffff;
  }

  /** Bytes of header and payload. */
  public static int length(long address) {
    return BigEndian.getShort(address + LENGTH_OFFSET) & 0xffff;
  }

  public static int checksum(long address) {
    return BigEndian.getShort(address + CHECKSUM_OFFSET) & 0xffff;
  }

  /** Writes all 8 bytes, the checksum as 0. */
  public static void write(long address, int sourcePort, int destinationPort, int length) {
    BigEndian.putInt(address, sourcePort << 16 | (destinationPort & 0xffff));
    BigEndian.putInt(address + LENGTH_OFFSET, length << 16);
  }

  /**
   * The source port that Linux gives the packets of a connected queue pair, the same at both ends
   * ({@code rdma_get_udp_sport} of include/rdma/ib_verbs.h): a flow label from the two queue pair
   * numbers, folded to 14 bits, in the dynamic range.
   */
  public static int connectionSourcePort(int localQpn, int remoteQpn) {
    return flowSourcePort(flowLabel(localQpn, remoteQpn));
  }

  /** The flow label that {@code rdma_calc_flow_label} makes of two queue pair numbers. */
  public static int flowLabel(int localQpn, int remoteQpn) {
    long mixed = (long) localQpn * remoteQpn;
    mixed ^= mixed >>> 20;
    mixed ^= mixed >>> 40;
    return (int) mixed & 0xf_ffff;
  }

  /** The source port of a flow label ({@code rdma_flow_label_to_udp_sport}). */
  public static int flowSourcePort(int flowLabel) {
    return ((flowLabel & 0x3fff) ^ ((flowLabel & 0xf_c000) >>> 14)) | 0xc000;
  }
}
