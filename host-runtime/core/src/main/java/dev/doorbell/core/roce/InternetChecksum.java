package dev.doorbell.core.roce;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;

/** The ones' complement checksum of IP, UDP and ICMPv6 (RFC 1071). */
public final class InternetChecksum {
  private InternetChecksum() {}

  /** Returns the checksum of {@code bytes} bytes; 0 if they hold a right one already. */
  public static int of(long address, int bytes) {
    return finish(sum(0, address, bytes));
  }

  /** Adds {@code bytes} bytes, padded with zero to 16 bits, to a sum. */
  public static long sum(long start, long address, int bytes) {
    long sum = start;
    int at = 0;
    for (; at + Short.BYTES <= bytes; at += Short.BYTES) {
      sum += BigEndian.getShort(address + at) & 0xffff;
    }
    if (at < bytes) {
      sum += (RawMemory.getByte(address + at) & 0xff) << 8;
    }
    return sum;
  }

  /** Folds a sum to the 16 bits that a header carries. */
  public static int finish(long sum) {
    long folded = sum;
    while (folded >>> 16 != 0) {
      folded = (folded & 0xffff) + (folded >>> 16);
    }
    return (int) ~folded & 0xffff;
  }
}
