package dev.doorbell.softhca.wire;

import dev.doorbell.core.roce.EthernetHeader;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.core.roce.Ipv4Header;
import dev.doorbell.core.roce.Ipv6Header;
import dev.doorbell.core.roce.UdpHeader;

/** The headers before a base transport header: Ethernet, IP, UDP; or Ethernet and GRH. */
final class FrameHeaders {
  /** Room before the base transport header that suffices for all of them. */
  static final int ROOM = 64;

  private static final int DEFAULT_HOP_LIMIT = 64;

  private FrameHeaders() {}

  private static int ipBytes(boolean ipv6) {
    return ipv6 ? Ipv6Header.BYTES : Ipv4Header.BYTES;
  }

  /**
   * Writes the headers of RoCEv2 right before {@code bth}.
   *
   * @param transport bytes from the BTH to the ICRC, both included
   * @return address of the Ethernet header
   */
  static long writeV2(
      long bth,
      int transport,
      long destinationMac,
      long sourceMac,
      Gid source,
      Gid destination,
      int sourcePort,
      int destinationPort,
      int trafficClass,
      int flowLabel,
      int hopLimit) {
    int udpBytes = UdpHeader.BYTES + transport;
    long udp = bth - UdpHeader.BYTES;
    int hops = hopLimit == 0 ? DEFAULT_HOP_LIMIT : hopLimit;
    UdpHeader.write(udp, sourcePort, destinationPort, udpBytes);
    boolean ipv6 = !destination.isIpv4();
    long ip = udp - ipBytes(ipv6);
    if (ipv6) {
      Ipv6Header.write(
          ip, trafficClass, flowLabel, udpBytes, Ipv6Header.UDP, hops, source, destination);
    } else {
      Ipv4Header.write(
          ip,
          trafficClass,
          Ipv4Header.BYTES + udpBytes,
          0,
          hops,
          source.ipv4(),
          destination.ipv4());
    }
    long frame = ip - EthernetHeader.BYTES;
    EthernetHeader.write(
        frame, destinationMac, sourceMac, ipv6 ? EthernetHeader.IPV6 : EthernetHeader.IPV4);
    return frame;
  }

  /** Writes the headers of RoCE version 1 right before {@code bth}. */
  static long writeV1(
      long bth,
      int transport,
      long destinationMac,
      long sourceMac,
      Gid source,
      Gid destination,
      int trafficClass,
      int flowLabel,
      int hopLimit) {
    long grh = bth - Ipv6Header.BYTES;
    Ipv6Header.write(
        grh,
        trafficClass,
        flowLabel,
        transport,
        Ipv6Header.IBA_TRANSPORT,
        hopLimit == 0 ? DEFAULT_HOP_LIMIT : hopLimit,
        source,
        destination);
    long frame = grh - EthernetHeader.BYTES;
    EthernetHeader.write(frame, destinationMac, sourceMac, EthernetHeader.ROCE_V1);
    return frame;
  }
}
