package dev.doorbell.core.roce;

import dev.doorbell.core.roce.generated.Ipv4Fields;

/** The IPv4 header (RFC 791). RoCEv2 sends it without options. */
public final class Ipv4Header extends Ipv4Fields {
  private Ipv4Header() {}

  /** Returns the bytes of the header with its options. */
  public static int headerBytes(long address) {
    return words(address) * Integer.BYTES;
  }

  /** Returns true for a part of a larger datagram. */
  public static boolean isFragment(long address) {
    return fragment(address) != 0;
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
    writeFields(address, trafficClass, totalLength, identification, ttl, source, destination);
    putChecksum(address);
  }

  /** Computes and writes the header checksum. */
  public static void putChecksum(long address) {
    putChecksum(address, 0);
    putChecksum(address, InternetChecksum.of(address, headerBytes(address)));
  }

  public static boolean isChecksumRight(long address) {
    return InternetChecksum.of(address, headerBytes(address)) == 0;
  }
}
