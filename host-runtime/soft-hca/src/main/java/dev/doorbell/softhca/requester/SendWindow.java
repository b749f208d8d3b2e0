package dev.doorbell.softhca.requester;

import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.Psn;
import dev.doorbell.softhca.packet.Wire;

/**
 * Congestion window and retransmission timeout of a reliable requester.
 *
 * <p>A lossy wire bounds the unacknowledged packets. A loss halves the bound for this connection, a
 * timeout reduces it to {@value #SMALLEST}; acknowledgements open it again, fast up to half of the
 * old bound and slowly beyond (Jacobson, "Congestion avoidance and control", SIGCOMM 1988). So
 * going back is cheap where packets are lost often, and connections that overrun a receiver
 * together slow down.
 *
 * <p>The timeout is the connection's, unless the HCA {@linkplain
 * dev.doorbell.softhca.device.SoftHcaOptions.Engine#firstRetryNanos retries sooner}: then it
 * follows the round trip, doubled after each timeout, up to the connection's.
 */
final class SendWindow {
  /** Unacknowledged packets at most: comparisons of sequence numbers stay unambiguous. */
  static final int LARGEST = 1 << 22;

  /** Lower limit of the bound. */
  static final int SMALLEST = 8;

  /** READ request packets per window. */
  static final int STRIDES = 4;

  /** Acknowledged packets per additional packet of the bound, above the threshold. */
  private static final int SLOWNESS = 8;

  /** Weights of a new measurement: of the round trip 1/8, of its deviation 1/4. */
  private static final int TRIP_SHIFT = 3;

  private static final int DEVIATION_SHIFT = 2;
  private static final int MAX_TIMEOUTS = 30;
  private static final int NONE = -1;

  /** The wire's limit in packets, by the bit length of the payload. */
  private final int[] wire =
      new int[Integer.SIZE - Integer.numberOfLeadingZeros(Packet.MAX_PAYLOAD) + 1];

  private final boolean bounded;
  private final long firstNanos;

  private int limit = LARGEST;
  private int threshold = LARGEST;
  private int credit;

  private int timeouts;

  // Before the first of these timeouts.
  private int limitBefore = LARGEST;
  private int thresholdBefore = LARGEST;

  // The packet whose round trip is being measured, and the smoothed round trip in nanoseconds.
  private int timedPsn = NONE;
  private long timedAt;
  private long trip;
  private long deviation;

  SendWindow(Wire wire, int mtu, long firstNanos) {
    boolean any = false;
    for (int bits = 0; bits < this.wire.length; bits++) {
      int packets = wire.window(Math.min(mtu, (1 << bits) - 1));
      this.wire[bits] = Math.min(LARGEST, packets);
      any |= packets < LARGEST;
    }
    this.bounded = any;
    this.firstNanos = firstNanos;
  }

  /** Limit of unacknowledged packets of {@code payload} bytes each. */
  int packets(long payload) {
    return Math.min(limit, wire[Long.SIZE - Long.numberOfLeadingZeros(payload)]);
  }

  /** Limit of response packets of {@code payload} bytes each that one READ request asks for. */
  int stride(long payload) {
    int most = wire[Long.SIZE - Long.numberOfLeadingZeros(payload)];
    return most == LARGEST ? LARGEST : Math.max(1, most / STRIDES);
  }

  /** The peer has acknowledged {@code count} packets. */
  void onAck(int count) {
    if (bounded && limit < LARGEST) {
      if (limit < threshold) {
        limit = Math.min(LARGEST, limit + count);
      } else {
        credit += count;
        limit = Math.min(LARGEST, limit + credit / SLOWNESS);
        credit %= SLOWNESS;
      }
    }
  }

  /** True when the acknowledgement of {@code psn} ends a measurement: {@link #measured}. */
  boolean isMeasuredBy(int psn) {
    return timedPsn != NONE && Psn.difference(psn, timedPsn) >= 0;
  }

  /** Ends the measurement of a round trip. */
  void measured(long now) {
    long nanos = now - timedAt;
    timedPsn = NONE;
    if (trip == 0) {
      trip = nanos;
      deviation = nanos / 2;
      return;
    }
    deviation += (Math.abs(nanos - trip) - deviation) >> DEVIATION_SHIFT;
    trip += (nanos - trip) >> TRIP_SHIFT;
  }

  /** True where round trips are to be measured and none is being measured. */
  boolean needsMeasurement() {
    return firstNanos > 0 && timedPsn == NONE;
  }

  /** Packet {@code psn} has been sent; the acknowledgement that covers it ends the measurement. */
  void measure(int psn, long now) {
    timedPsn = psn;
    timedAt = now;
  }

  /** A packet was lost, with {@code inFlight} unacknowledged. */
  void onLoss(int inFlight) {
    // An ACK of a retransmitted packet may be of its first transmission (Karn).
    timedPsn = NONE;
    if (bounded) {
      threshold = Math.max(SMALLEST, inFlight / 2);
      limit = threshold;
      credit = 0;
    }
  }

  /** The ACK timer has expired, with {@code inFlight} unacknowledged. */
  void onTimeout(int inFlight) {
    if (timeouts == 0) {
      limitBefore = limit;
      thresholdBefore = threshold;
    }
    onLoss(inFlight);
    if (bounded) {
      limit = SMALLEST;
    }
    timeouts = Math.min(timeouts + 1, MAX_TIMEOUTS);
  }

  /** The last timeouts were spurious: restores the bound from before them. */
  void restore() {
    if (timeouts > 0) {
      limit = limitBefore;
      threshold = thresholdBefore;
    }
  }

  /** The peer has answered: true if the timer had expired before. */
  boolean clearTimeouts() {
    boolean was = timeouts > 0;
    timeouts = 0;
    return was;
  }

  /** The current retransmission timeout in nanoseconds, {@code timeout} at most. */
  long ackTimeoutNanos(long timeout) {
    if (firstNanos == 0) {
      return timeout;
    }
    long first = Math.max(firstNanos, trip + 4 * deviation);
    return first >= timeout >> timeouts ? timeout : first << timeouts;
  }
}
