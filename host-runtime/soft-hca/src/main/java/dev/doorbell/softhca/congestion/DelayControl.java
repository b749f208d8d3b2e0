package dev.doorbell.softhca.congestion;

/**
 * A congestion control by delay, after Swift (Kumar et al., "Swift: Delay is Simple and Effective
 * for Congestion Control in the Datacenter", SIGCOMM 2020, section 3.1, algorithm 1): additive
 * increase while round trips are below a target, multiplicative decrease by their excess at most
 * once a round trip, and pacing below a window of one packet.
 *
 * <p>The target is the same for all flows. Swift's scaling of it by the number of flows is left
 * out, so queues of many flows are longer than Swift's.
 */
public final class DelayControl implements CongestionControl {
  /** Weights of Swift: decrease by the excess, and largest decrease. */
  private static final double BETA = 0.8;

  private static final double LARGEST_CUT = 0.5;
  private static final double SMALLEST_WINDOW = 0.01;
  private static final int ACK_INTERVAL = 4;

  /** Weight of a round trip in the mean that the pacing of small windows uses (Jacobson). */
  private static final int MEAN_SHIFT = 3;

  private final double lineBytesPerNano;
  private final long targetNanos;
  private final int mtu;
  private final double largest;
  private double window;
  private long trip;
  private long lastCut = Long.MIN_VALUE / 2;

  /**
   * A queue pair that begins with the largest window.
   *
   * @param lineBytesPerNano rate of the port
   * @param targetNanos round trips up to it are not congestion
   * @param mtu path MTU in bytes
   * @param largestNanos the largest window is what the port sends in so long
   */
  public DelayControl(double lineBytesPerNano, long targetNanos, int mtu, long largestNanos) {
    if (!(lineBytesPerNano > 0) || targetNanos <= 0 || mtu <= 0 || largestNanos <= 0) {
      throw new IllegalArgumentException(
          "rate %s bytes/ns, target %d ns, mtu %d bytes, largest window %d ns"
              .formatted(lineBytesPerNano, targetNanos, mtu, largestNanos));
    }
    this.lineBytesPerNano = lineBytesPerNano;
    this.targetNanos = targetNanos;
    this.mtu = mtu;
    this.largest = Math.max(1, lineBytesPerNano * largestNanos / mtu);
    this.window = largest;
  }

  @Override
  public double bytesPerNano(long now) {
    return window >= 1 || trip == 0
        ? lineBytesPerNano
        : Math.min(lineBytesPerNano, window * mtu / trip);
  }

  @Override
  public long windowBytes(long now) {
    return (long) (Math.max(1, window) * mtu);
  }

  @Override
  public int ackInterval() {
    return ACK_INTERVAL;
  }

  @Override
  public void onAcknowledged(long now, long roundTripNanos, int packets) {
    if (roundTripNanos == 0) {
      return;
    }
    trip = trip == 0 ? roundTripNanos : trip + ((roundTripNanos - trip) >> MEAN_SHIFT);
    if (roundTripNanos < targetNanos) {
      window += window >= 1 ? packets / window : packets;
    } else if (now - lastCut >= trip) {
      double excess = (roundTripNanos - targetNanos) / (double) roundTripNanos;
      window *= Math.max(1 - BETA * excess, 1 - LARGEST_CUT);
      lastCut = now;
    }
    window = Math.clamp(window, SMALLEST_WINDOW, largest);
  }

  @Override
  public void onLoss(long now) {
    if (now - lastCut >= trip) {
      window = Math.max(SMALLEST_WINDOW, window * (1 - LARGEST_CUT));
      lastCut = now;
    }
  }
}
