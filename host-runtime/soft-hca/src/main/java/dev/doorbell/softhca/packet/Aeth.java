package dev.doorbell.softhca.packet;

/**
 * The syndrome byte of the ACK extended transport header: bits 6:5 the kind, 4:0 the value
 * (InfiniBand specification, chapter 9.7.5.2).
 */
public final class Aeth {
  /** An ACK without end-to-end credits. */
  public static final int ACK = 0x1f;

  /** An RNR NAK; or-ed with the code of the timer. */
  public static final int RNR_NAK = 0x20;

  public static final int NAK_SEQUENCE = 0x60;
  public static final int NAK_INVALID_REQUEST = 0x61;
  public static final int NAK_REMOTE_ACCESS = 0x62;
  public static final int NAK_REMOTE_OPERATION = 0x63;

  private static final long[] RNR_MICROS = {
    655_360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1_280, 1_920, 2_560, 3_840,
    5_120, 7_680, 10_240, 15_360, 20_480, 30_720, 40_960, 61_440, 81_920, 122_880, 163_840, 245_760,
    327_680, 491_520
  };

  private Aeth() {}

  public static boolean isAck(int syndrome) {
    return (syndrome & 0x60) == 0;
  }

  public static boolean isRnr(int syndrome) {
    return (syndrome & 0x60) == RNR_NAK;
  }

  /** How long an RNR NAK asks the requester to wait. */
  public static long rnrNanos(int syndrome) {
    return RNR_MICROS[syndrome & 0x1f] * 1_000;
  }
}
