package dev.doorbell.softhca.requester;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.softhca.congestion.CongestionControl;
import dev.doorbell.softhca.packet.Psn;

/**
 * Holds the requests of a queue pair to the rate and the window of its {@link CongestionControl},
 * and measures round trips for it.
 */
final class Pacer {
  private static final int MEASUREMENTS = 64;

  private final CongestionControl control;
  private final DevicePort port;
  private final int mtu;
  private final Runnable onProgress;
  private final Completion onTimer = this::expired;
  private double freeNanos;
  private boolean timing;

  // Packets that ask for an ACK, oldest first, and when they were made.
  private final int[] measuredPsn = new int[MEASUREMENTS];
  private final long[] measuredAt = new long[MEASUREMENTS];
  private int oldest;
  private int count;

  /**
   * @param onProgress called when a packet may leave that could not before
   */
  Pacer(CongestionControl control, DevicePort port, int mtu, Runnable onProgress) {
    this.control = control;
    this.port = port;
    this.mtu = mtu;
    this.onProgress = onProgress;
  }

  /** Distance in packets between ACK requests. */
  int ackInterval() {
    return control.ackInterval();
  }

  /**
   * Packets that may be unacknowledged: at least as many as may be between two ACK requests, so
   * that a window that shrinks never waits for an acknowledgement without a request.
   */
  int window() {
    long bytes = control.windowBytes(port.now());
    return bytes == Long.MAX_VALUE
        ? Integer.MAX_VALUE
        : Math.clamp(bytes / mtu, control.ackInterval(), Integer.MAX_VALUE);
  }

  /** Returns true if a packet may leave now; if not, {@code onProgress} is called when it may. */
  boolean mayLeave() {
    long now = port.now();
    if (now >= freeNanos) {
      return true;
    }
    if (!timing) {
      timing = true;
      port.timer((long) Math.ceil(freeNanos - now), onTimer);
    }
    return false;
  }

  private void expired(boolean ok) {
    timing = false;
    onProgress.run();
  }

  /** A packet leaves. */
  void sent(int psn, int frameBytes, boolean asksForAck) {
    long now = port.now();
    control.onSent(now, frameBytes);
    // Timers end at whole nanoseconds: what is less than one late makes up for it.
    double from = now - freeNanos < 1 ? freeNanos : now;
    freeNanos = from + frameBytes / control.bytesPerNano(now);
    if (asksForAck && count < MEASUREMENTS) {
      int at = (oldest + count++) % MEASUREMENTS;
      measuredPsn[at] = psn;
      measuredAt[at] = now;
    }
  }

  /** The peer has acknowledged {@code packets} packets, the last of which is {@code psn}. */
  void acknowledged(int psn, int packets) {
    long now = port.now();
    long sent = now;
    while (count > 0 && Psn.difference(measuredPsn[oldest], psn) <= 0) {
      sent = measuredAt[oldest];
      oldest = (oldest + 1) % MEASUREMENTS;
      count--;
    }
    control.onAcknowledged(now, now - sent, packets);
  }

  /** An ACK grants packets behind the one that it acknowledges. */
  void granted(int packets) {
    control.onCredits(port.now(), packets);
  }

  /** Packets go again: an ACK of one of them may be of its first transmission (Karn). */
  void forget() {
    count = 0;
  }

  void lost() {
    control.onLoss(port.now());
  }

  /** A CNP has arrived. */
  void notified() {
    control.onNotification(port.now());
  }
}
