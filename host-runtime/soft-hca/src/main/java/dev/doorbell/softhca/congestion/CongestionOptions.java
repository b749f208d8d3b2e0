package dev.doorbell.softhca.congestion;

import dev.doorbell.softhca.congestion.CreditPool.CreditControl;
import org.jspecify.annotations.Nullable;

/**
 * Reaction of an HCA to congestion.
 *
 * @param policy of its reliable connections; null: they send as fast as they can, their packets
 *     carry no ECN code point, and no CNP answers marked ones
 * @param notificationNanos least time between two CNPs of a queue pair
 * @param creditBytes of payload that peers may have on their way to the HCA, which its ACKs grant;
 *     0: they grant nothing
 * @param silenceNanos so long after its last packet a peer has no credits
 */
public record CongestionOptions(
    @Nullable CongestionPolicy policy,
    long notificationNanos,
    long creditBytes,
    long silenceNanos) {
  /** Least time between two CNPs of a flow in DCQCN (SIGCOMM 2015, section 3.1: N = 50 us). */
  public static final long NOTIFICATION_NANOS = 50_000;

  public static final CongestionOptions NONE =
      new CongestionOptions(null, NOTIFICATION_NANOS, 0, 0);

  public CongestionOptions {
    if (notificationNanos < 0 || creditBytes < 0 || silenceNanos < 0) {
      throw new IllegalArgumentException(
          "%d ns between two CNPs, %d bytes of credits for %d ns: none may be negative"
              .formatted(notificationNanos, creditBytes, silenceNanos));
    }
  }

  /** A policy with DCQCN's interval of notifications. */
  public static CongestionOptions of(CongestionPolicy policy) {
    return of(policy, NOTIFICATION_NANOS);
  }

  /** A policy with an interval of notifications. */
  public static CongestionOptions of(CongestionPolicy policy, long notificationNanos) {
    return new CongestionOptions(policy, notificationNanos, 0, 0);
  }

  /**
   * Credits that the receiver grants.
   *
   * @param lineBytesPerNano rate of the port
   * @param creditBytes of payload on their way to the HCA
   * @param silenceNanos after which credits lapse
   */
  public static CongestionOptions credits(
      double lineBytesPerNano, long creditBytes, long silenceNanos) {
    return new CongestionOptions(
        mtu -> new CreditControl(lineBytesPerNano, mtu, silenceNanos / 2),
        NOTIFICATION_NANOS,
        creditBytes,
        silenceNanos);
  }
}
