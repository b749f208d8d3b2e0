package dev.doorbell.softhca.congestion;

/**
 * The sender's half of flow control by credits: as many packets may be unacknowledged as the
 * receiver's last ACK has granted ({@link CreditPool}), at the port's rate. A sender without
 * credits begins with one packet.
 */
public final class CreditControl implements CongestionControl {
  private final double lineBytesPerNano;
  private final int mtu;
  private final long silenceNanos;
  private int credits = 1;
  private long last;

  /**
   * A queue pair without credits.
   *
   * @param lineBytesPerNano rate of the port
   * @param mtu path MTU in bytes
   * @param silenceNanos so long after the last ACK its credits are gone; less than the receiver's
   *     by the time that an ACK travels
   */
  public CreditControl(double lineBytesPerNano, int mtu, long silenceNanos) {
    this.lineBytesPerNano = lineBytesPerNano;
    this.mtu = mtu;
    this.silenceNanos = silenceNanos;
  }

  @Override
  public double bytesPerNano(long now) {
    return lineBytesPerNano;
  }

  @Override
  public long windowBytes(long now) {
    if (now - last > silenceNanos) {
      credits = 1;
    }
    return (long) credits * mtu;
  }

  @Override
  public int ackInterval() {
    return 1;
  }

  @Override
  public void onCredits(long now, int packets) {
    credits = Math.max(1, packets);
    last = now;
  }
}
