package dev.doorbell.core.roce;

import dev.doorbell.core.roce.generated.Ipv6Fields;

/** The IPv6 header, and the global route header (GRH), which has the same bytes. */
public final class Ipv6Header extends Ipv6Fields {
  private Ipv6Header() {}

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
    write(
        address,
        trafficClass,
        flowLabel,
        payloadLength,
        nextHeader,
        hopLimit,
        source.high(),
        source.low(),
        destination.high(),
        destination.low());
  }
}
