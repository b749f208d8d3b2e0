package dev.doorbell.core.roce;

import dev.doorbell.core.memory.BigEndian;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HexFormat;

/**
 * A global identifier: what names a port, and on Ethernet an IPv6 address, or an IPv4 address
 * mapped into one ({@code ::ffff:a.b.c.d}).
 *
 * @param high the first 8 bytes
 * @param low the last 8 bytes
 */
public record Gid(long high, long low) {
  /** Bytes of an identifier. */
  public static final int BYTES = 16;

  private static final long MAPPED_PREFIX = 0xffffL << 32;
  private static final long LINK_LOCAL_PREFIX = 0xfe80L << 48;

  public static Gid ofIpv4(int address) {
    return new Gid(0, ipv4Low(address));
  }

  /** The lower half of {@link #ofIpv4}; the upper one is 0. */
  public static long ipv4Low(int address) {
    return MAPPED_PREFIX | (address & 0xffff_ffffL);
  }

  /** The link-local identifier of a MAC address: modified EUI-64, as Linux makes it. */
  public static Gid linkLocal(long mac) {
    long upper = mac >>> 24 & 0xff_ffff;
    long lower = mac & 0xff_ffff;
    return new Gid(LINK_LOCAL_PREFIX, (upper ^ 0x02_0000) << 40 | 0xff_feL << 24 | lower);
  }

  /** The 16 bytes at {@code address}. */
  public static Gid read(long address) {
    return new Gid(BigEndian.getLong(address), BigEndian.getLong(address + Long.BYTES));
  }

  /** The identifier of an internet address. */
  public static Gid of(InetAddress address) {
    byte[] bytes = address.getAddress();
    if (address instanceof Inet4Address) {
      return ofIpv4(HexFormat.fromHexDigits(HexFormat.of().formatHex(bytes)));
    }
    HexFormat hex = HexFormat.of();
    return new Gid(
        HexFormat.fromHexDigitsToLong(hex.formatHex(bytes, 0, Long.BYTES)),
        HexFormat.fromHexDigitsToLong(hex.formatHex(bytes, Long.BYTES, BYTES)));
  }

  /**
   * The identifier that {@code text} names: an IPv4 or IPv6 address in digits.
   *
   * @throws IllegalArgumentException when it is neither; host names are not looked up
   */
  public static Gid parse(String text) {
    boolean ipv4 = text.matches("[0-9.]+");
    try {
      if (ipv4 ? text.matches("\\d+(\\.\\d+){3}") : text.matches("[0-9a-fA-F:.]*:[0-9a-fA-F:.]*")) {
        // Digits only: nothing is looked up.
        return of(InetAddress.getByName(text));
      }
    } catch (UnknownHostException _) {
      // said below
    }
    throw new IllegalArgumentException(
        "'%s' is no GID; write an IPv4 or IPv6 address, such as 10.0.0.1 or fe80::1"
            .formatted(text));
  }

  /** Writes the 16 bytes. */
  public void write(long address) {
    BigEndian.putLong(address, high);
    BigEndian.putLong(address + Long.BYTES, low);
  }

  /** True when an IPv4 address is in it. */
  public boolean isIpv4() {
    return high == 0 && low >>> 32 == 0xffff;
  }

  public int ipv4() {
    return (int) low;
  }

  public boolean isLinkLocal() {
    return high >>> 48 == 0xfe80;
  }

  /** True for an IPv6 multicast address, and for an IPv4 one in it. */
  public boolean isMulticast() {
    return high >>> 56 == 0xff || (isIpv4() && ipv4() >>> 28 == 0xe);
  }

  /** The Ethernet address of {@link #isMulticast} (RFC 1112, chapter 6.4; RFC 2464, chapter 7). */
  public long multicastMac() {
    return isIpv4()
        ? 0x01_00_5e_00_00_00L | (low & 0x7f_ffff)
        : 0x3333L << 32 | (low & 0xffff_ffffL);
  }

  /** The MAC address from which {@link #linkLocal} made this, or -1. */
  public long linkLocalMac() {
    if (high != LINK_LOCAL_PREFIX || (low >>> 24 & 0xffff) != 0xfffe) {
      return -1;
    }
    return (low >>> 40 ^ 0x02_0000) << 24 | (low & 0xff_ffff);
  }

  /** Dotted for IPv4, else eight groups of hexadecimal digits with the longest zeros left out. */
  @Override
  public String toString() {
    if (isIpv4()) {
      int a = ipv4();
      return "%d.%d.%d.%d".formatted(a >>> 24, a >>> 16 & 0xff, a >>> 8 & 0xff, a & 0xff);
    }
    int bestStart = -1;
    int bestLength = 1;
    for (int start = 0; start < 8; start++) {
      int length = 0;
      while (start + length < 8 && group(start + length) == 0) {
        length++;
      }
      if (length > bestLength) {
        bestStart = start;
        bestLength = length;
      }
    }
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 8; i++) {
      if (i == bestStart) {
        text.append("::");
        i += bestLength - 1;
      } else {
        boolean first = text.isEmpty() || text.charAt(text.length() - 1) == ':';
        text.append(first ? "" : ":").append(Integer.toHexString(group(i)));
      }
    }
    return text.toString();
  }

  private int group(int index) {
    long half = index < 4 ? high : low;
    return (int) (half >>> (16 * (3 - (index & 3)))) & 0xffff;
  }
}
