package dev.doorbell.softhca;

import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.Psn;
import dev.doorbell.softhca.packet.Wire;

/**
 * How many packets a requester has without an acknowledgement at most, and for how long it bears
 * silence before it sends again.
 *
 * <p>A wire that loses what its buffers do not hold bounds the packets. Losses halve the bound for
 * this connection and silence closes it to {@value #SMALLEST}; acknowledgements open it again, up
 * to half of where it was at once and beyond that slowly (Jacobson, "Congestion avoidance and
 * control", SIGCOMM 1988). Going back is cheap so, where packets are lost often, and connections
 * that overrun a receiver together give way.
 *
 * <p>Patience is the connection's timeout, always, unless the HCA {@linkplain
 * SoftHcaOptions.Engine#firstRetryNanos repeats sooner}: then it is what round trips take, twice as
 * long after each silence, up to the timeout.
 */
final class SendWindow {
  /** Unacknowledged packets at most: comparisons of sequence numbers stay unambiguous. */
  static final int LARGEST = 1 << 22;

  /** Packets that may always be under way. */
  static final int SMALLEST = 8;

  /** READ requests that ask for a window together. */
  static final int STRIDES = 4;

  /** Beyond the threshold, so many acknowledged packets make room for one more. */
  private static final int SLOWNESS = 8;

  /** Weights of a new measurement: of the round trip 1/8, of its deviation 1/4. */
  private static final int TRIP_SHIFT = 3;

  private static final int DEVIATION_SHIFT = 2;
  private static final int MOST_SILENCES = 30;
  private static final int NONE = -1;

  /** What the wire bears, by the bit length of the payload. */
  private final int[] wire =
      new int[Integer.SIZE - Integer.numberOfLeadingZeros(Packet.MAX_PAYLOAD) + 1];

  private final boolean bounded;
  private final long firstNanos;

  private int limit = LARGEST;
  private int threshold = LARGEST;
  private int credit;

  private int silences;

  // What a silence has closed.
  private int limitBefore = LARGEST;
  private int thresholdBefore = LARGEST;

  // The packet whose round trip is being measured.
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

  /** Packets with so many bytes of payload that may be under way. */
  int packets(long payload) {
    return Math.min(limit, wire[Long.SIZE - Long.numberOfLeadingZeros(payload)]);
  }

  /** Packets of payload that one READ request may ask for. */
  int stride(long payload) {
    int most = wire[Long.SIZE - Long.numberOfLeadingZeros(payload)];
    return most == LARGEST ? LARGEST : Math.max(1, most / STRIDES);
  }

  /** The peer has acknowledged {@code count} packets. */
  void acknowledged(int count) {
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
  boolean wantsMeasurement() {
    return firstNanos > 0 && timedPsn == NONE;
  }

  /** Packet {@code psn} has been sent; the acknowledgement that covers it ends the measurement. */
  void measure(int psn, long now) {
    timedPsn = psn;
    timedAt = now;
  }

  /** The peer misses a packet, with {@code inFlight} under way. */
  void lost(int inFlight) {
    // What is sent again may be acknowledged for its first journey: no measure of anything.
    timedPsn = NONE;
    if (bounded) {
      threshold = Math.max(SMALLEST, inFlight / 2);
      limit = threshold;
      credit = 0;
    }
  }

  /** The peer has been silent, with {@code inFlight} under way. */
  void silent(int inFlight) {
    if (silences == 0) {
      limitBefore = limit;
      thresholdBefore = threshold;
    }
    lost(inFlight);
    if (bounded) {
      limit = SMALLEST;
    }
    silences = Math.min(silences + 1, MOST_SILENCES);
  }

  /** The peer's silence had another reason than a loss. */
  void reopen() {
    if (silences > 0) {
      limit = limitBefore;
      threshold = thresholdBefore;
    }
  }

  /** The peer was silent before it answered. */
  boolean endSilence() {
    boolean was = silences > 0;
    silences = 0;
    return was;
  }

  /** How long silence is borne now, in nanoseconds. */
  long patience(long timeout) {
    if (firstNanos == 0) {
      return timeout;
    }
    long first = Math.max(firstNanos, trip + 4 * deviation);
    return first >= timeout >> silences ? timeout : first << silences;
  }
}
