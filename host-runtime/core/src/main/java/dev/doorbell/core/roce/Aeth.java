package dev.doorbell.core.roce;

import dev.doorbell.core.roce.generated.AethFields;
import java.util.Arrays;

/**
 * The ACK extended transport header (InfiniBand specification, chapter 9.7.5). Bits 6:5 of the
 * syndrome are its kind, bits 4:0 a value: kind 0 is an ACK whose value counts credits (31: none
 * are given), 1 an RNR NAK whose value is a timer, 3 a NAK whose value is a code.
 */
public final class Aeth extends AethFields {
  private static final int KIND_MASK = 0x60;
  private static final int VALUE_MASK = 0x1f;

  /** Hundredths of milliseconds by timer code. */
  private static final int[] RNR_TIMERS = {
    65_536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1_024,
    1_536, 2_048, 3_072, 4_096, 6_144, 8_192, 12_288, 16_384, 24_576, 32_768, 49_152
  };

  /** Credits by credit code (chapter 9.7.7, end-to-end flow control). */
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

  public static boolean isAck(int syndrome) {
    return (syndrome & KIND_MASK) == 0;
  }

  public static boolean isRnrNak(int syndrome) {
    return (syndrome & KIND_MASK) == RNR_NAK;
  }

  /** Returns the microseconds that an RNR NAK asks the requester to wait (table 45). */
  public static int rnrMicros(int syndrome) {
    return RNR_TIMERS[syndrome & VALUE_MASK] * 10;
  }

  /** Shows the header in one line. */
  static String line(long address) {
    return "%s msn=%d".formatted(text(syndrome(address)), msn(address));
  }

  public static String text(int syndrome) {
    if (isAck(syndrome)) {
      return syndrome == ACK ? "ACK" : "ACK, %d credits".formatted(credits(syndrome));
    }
    if (isRnrNak(syndrome)) {
      return "RNR NAK, come again in %d us".formatted(rnrMicros(syndrome));
    }
    return AethFields.text(syndrome);
  }
}
