package dev.doorbell.core.roce;

import dev.doorbell.core.memory.BigEndian;
import java.util.Arrays;

/**
 * The ACK extended transport header (InfiniBand specification, chapter 9.7.5).
 *
 * <pre>
 *   31 30 29 28      24 23                                          0
 *  +--+-----+----------+--------------------------------------------+
 *  |0 | kind| value    | message sequence number                    |  0
 *  +--+-----+----------+--------------------------------------------+
 * </pre>
 *
 * <p>Kind 0 is an ACK whose value counts credits (31: none are given), 1 an RNR NAK whose value is
 * a timer, 3 a NAK whose value is a code.
 */
public final class Aeth {
  /** Bytes of the header. */
  public static final int BYTES = 4;

  /** An ACK without end-to-end credits. */
  public static final int ACK = 0x1f;

  /** An RNR NAK; or-ed with the code of the timer. */
  public static final int RNR_NAK = 0x20;

  public static final int NAK_SEQUENCE = 0x60;
  public static final int NAK_INVALID_REQUEST = 0x61;
  public static final int NAK_REMOTE_ACCESS = 0x62;
  public static final int NAK_REMOTE_OPERATION = 0x63;
  public static final int NAK_INVALID_RD_REQUEST = 0x64;

  private static final int KIND_MASK = 0x60;
  private static final int SYNDROME_SHIFT = 24;
  private static final int VALUE_MASK = 0x1f;

  /** Of each timer code, hundredths of milliseconds. */
  private static final int[] RNR_TIMERS = {
    65_536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1_024,
    1_536, 2_048, 3_072, 4_096, 6_144, 8_192, 12_288, 16_384, 24_576, 32_768, 49_152
  };

  /** Of each credit code, how many credits (chapter 9.7.7, end-to-end flow control). */
  private static final int[] CREDITS = {
    0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1_024, 1_536,
    2_048, 3_072, 4_096, 6_144, 8_192, 12_288, 16_384, 24_576, 32_768
  };

  private Aeth() {}

  /** The ACK whose code stands for the most credits that are no more than {@code credits}. */
  public static int ackWith(int credits) {
    int at = Arrays.binarySearch(CREDITS, Math.max(0, credits));
    return at >= 0 ? at : -at - 2;
  }

  /** The credits that an ACK grants, or -1 where it grants none. */
  public static int credits(int syndrome) {
    int code = syndrome & VALUE_MASK;
    return isAck(syndrome) && code < CREDITS.length ? CREDITS[code] : -1;
  }

  public static int syndrome(long address) {
    return BigEndian.getInt(address) >>> SYNDROME_SHIFT;
  }

  /** The responder's count of messages that it has carried out, 24 bits. */
  public static int msn(long address) {
    return BigEndian.getInt(address) & Bth.MASK_24;
  }

  /** Writes all 4 bytes. */
  public static void write(long address, int syndrome, int msn) {
    BigEndian.putInt(address, syndrome << SYNDROME_SHIFT | (msn & Bth.MASK_24));
  }

  public static boolean isAck(int syndrome) {
    return (syndrome & KIND_MASK) == 0;
  }

  public static boolean isRnrNak(int syndrome) {
    return (syndrome & KIND_MASK) == RNR_NAK;
  }

  /** How long an RNR NAK asks the requester to wait (table 45), in microseconds. */
  public static int rnrMicros(int syndrome) {
    return RNR_TIMERS[syndrome & VALUE_MASK] * 10;
  }

  /** The syndrome in words. */
  public static String text(int syndrome) {
    if (isAck(syndrome)) {
      return syndrome == ACK ? "ACK" : "ACK, %d credits".formatted(credits(syndrome));
    }
    if (isRnrNak(syndrome)) {
      return "RNR NAK, come again in %d us".formatted(rnrMicros(syndrome));
    }
    return switch (syndrome) {
      case NAK_SEQUENCE -> "NAK, packet sequence error";
      case NAK_INVALID_REQUEST -> "NAK, invalid request";
      case NAK_REMOTE_ACCESS -> "NAK, remote access error";
      case NAK_REMOTE_OPERATION -> "NAK, remote operational error";
      case NAK_INVALID_RD_REQUEST -> "NAK, invalid RD request";
      default -> "reserved syndrome 0x%02x".formatted(syndrome);
    };
  }
}
