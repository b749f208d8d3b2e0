package dev.doorbell.softhca.congestion;

/**
 * Code points of explicit congestion notification: the two low bits of a traffic class (RFC 3168).
 */
public final class Ecn {
  /** The sender reacts to marks: ECT(0). */
  public static final int CAPABLE = 2;

  /** A switch has marked the packet: CE. */
  public static final int CONGESTION_EXPERIENCED = 3;

  private static final int MASK = 3;

  private Ecn() {}

  /** Whether a packet with this traffic class was marked. */
  public static boolean isMarked(int trafficClass) {
    return (trafficClass & MASK) == CONGESTION_EXPERIENCED;
  }
}
