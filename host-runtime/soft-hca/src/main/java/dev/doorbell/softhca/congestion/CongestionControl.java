package dev.doorbell.softhca.congestion;

/**
 * The reaction point of one queue pair: decides at which rate its requests leave, and how many of
 * them may be unacknowledged. A user's own implements this and is given to an HCA by a {@link
 * CongestionPolicy}.
 *
 * <p>Times are nanoseconds of the fabric's clock and never decrease from call to call. All calls
 * are made by the host thread that steps the HCA. READ responses are not paced: the peer sends
 * them.
 */
public interface CongestionControl {
  /** The rate in bytes of frames per nanosecond at which packets leave from {@code now} on. */
  double bytesPerNano(long now);

  /** Payload bytes that may be unacknowledged; {@link Long#MAX_VALUE} for no limit. */
  default long windowBytes(long now) {
    return Long.MAX_VALUE;
  }

  /**
   * Distance in packets between ACK requests inside a message: round trips are measured that often.
   * {@link Integer#MAX_VALUE} where they do not matter.
   */
  default int ackInterval() {
    return Integer.MAX_VALUE;
  }

  /** A packet of {@code bytes} leaves. */
  default void onSent(long now, int frameBytes) {}

  /** A CNP has arrived: the receiver has seen marked packets of this queue pair. */
  default void onNotification(long now) {}

  /**
   * The peer has acknowledged packets.
   *
   * @param roundTripNanos from the last of them that was measured to its acknowledgement; 0 where
   *     none of them was
   * @param packets that this acknowledgement adds
   */
  default void onAcknowledged(long now, long roundTripNanos, int packets) {}

  /** An ACK grants so many packets behind the one that it acknowledges; other ACKs grant none. */
  default void onCredits(long now, int packets) {}

  /** A packet was lost: a sequence NAK has arrived, or the ACK timer has expired. */
  default void onLoss(long now) {}
}
