package dev.doorbell.softhca.congestion;

import dev.doorbell.core.roce.Aeth;
import java.util.ArrayList;
import java.util.List;

/**
 * The receiver's half of flow control by credits: how many packets each peer of an HCA may send.
 *
 * <p>An ACK grants its sender a number of packets behind the acknowledged one, in the credit field
 * of its AETH. The pool grants no more than its bytes to all senders together. It divides them
 * equally among those that have sent something lately, and grants each at least one packet, so that
 * a sender never waits for a grant that nothing would carry. So no more than the pool and one
 * packet a sender are on their way to the HCA, but for the first packet of each. What is granted is
 * never taken back; it lapses when a sender has been silent for {@link #silenceNanos}, at both ends
 * ({@link CreditControl}).
 */
public final class CreditPool {
  private final long bytes;
  private final long silenceNanos;
  private final List<Flow> active = new ArrayList<>();
  private long granted;

  /** Credits of one sender. */
  public final class Flow {
    private final int mtu;

    /** Packets that it may send, or has sent and that have not arrived. */
    private int packets;

    private long last;
    private boolean listed;

    private Flow(int mtu) {
      this.mtu = mtu;
    }

    /** A packet has arrived in order. */
    public void onArrival(long now) {
      last = now;
      if (!listed) {
        listed = true;
        active.add(this);
      }
      if (packets > 0) {
        packets--;
        granted -= mtu;
      }
    }

    /**
     * Grants packets behind the last one that has arrived.
     *
     * @param ahead packets that have arrived behind the one that the ACK acknowledges
     * @return the ACK's syndrome
     */
    public int acknowledge(long now, int ahead) {
      lapse(now);
      long share = Math.min(bytes / Math.max(1, active.size()), bytes - granted + held());
      int most = Math.max(packets, Math.max(1, (int) Math.min(share / mtu, Integer.MAX_VALUE / 2)));
      int syndrome = Aeth.ackWith(most + ahead);
      int more = Math.max(0, Aeth.credits(syndrome) - ahead - packets);
      packets += more;
      granted += (long) more * mtu;
      return syndrome;
    }

    /** The connection has ended. */
    public void close() {
      active.remove(this);
      release();
    }

    private long held() {
      return (long) packets * mtu;
    }

    private void release() {
      granted -= held();
      packets = 0;
      listed = false;
    }
  }

  /**
   * A pool of an HCA.
   *
   * @param bytes of payload that may be on their way to it
   * @param silenceNanos after which a sender has no credits
   */
  public CreditPool(long bytes, long silenceNanos) {
    if (bytes <= 0 || silenceNanos <= 0) {
      throw new IllegalArgumentException(
          "a pool of %d bytes that lapse after %d ns".formatted(bytes, silenceNanos));
    }
    this.bytes = bytes;
    this.silenceNanos = silenceNanos;
  }

  /** The credits of a new connection, whose packets have {@code mtu} bytes at most: none yet. */
  public Flow flow(int mtu) {
    return new Flow(mtu);
  }

  /** Bytes that are granted and have not arrived. */
  public long granted() {
    return granted;
  }

  /** Senders that have sent something lately. */
  public int senders() {
    return active.size();
  }

  private void lapse(long now) {
    for (int i = active.size() - 1; i >= 0; i--) {
      Flow flow = active.get(i);
      if (now - flow.last > silenceNanos) {
        active.remove(i);
        flow.release();
      }
    }
  }

  /**
   * The sender's half of flow control by credits: as many packets may be unacknowledged as the
   * receiver's last ACK has granted ({@link CreditPool}), at the port's rate. A sender without
   * credits begins with one packet.
   */
  public static final class CreditControl implements CongestionControl {
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
}
