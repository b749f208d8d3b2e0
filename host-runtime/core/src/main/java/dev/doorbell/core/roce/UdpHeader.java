package dev.doorbell.core.roce;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.roce.generated.UdpFields;

/** The UDP header (RFC 768). */
public final class UdpHeader extends UdpFields {
  private UdpHeader() {}

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

  /**
   * Writes the checksum that IPv6 requires (RFC 8200, chapter 8.1), over the whole datagram.
   *
   * @param ip address of the IPv6 header; UDP follows it
   */
  public static void putIpv6Checksum(long ip) {
    long udp = ip + Ipv6Header.BYTES;
    int bytes = length(udp);
    BigEndian.putShort(udp + CHECKSUM_OFFSET, (short) 0);
    long sum = InternetChecksum.sum(Ipv6Header.UDP + bytes, ip + Ipv6Header.SOURCE_OFFSET, 32);
    int checksum = InternetChecksum.finish(InternetChecksum.sum(sum, udp, bytes));
    BigEndian.putShort(udp + CHECKSUM_OFFSET, (short) (checksum == 0 ? 0xffff : checksum));
  }
}
