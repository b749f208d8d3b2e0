package dev.doorbell.softhca.congestion;

import org.jspecify.annotations.Nullable;

/**
 * What an HCA does about congestion.
 *
 * @param policy of its reliable connections; null: they send as fast as they can, their packets
 *     carry no ECN code point, and no CNP answers marked ones
 * @param notificationNanos least time between two CNPs of a queue pair
 */
public record CongestionOptions(@Nullable CongestionPolicy policy, long notificationNanos) {
  /** Least time between two CNPs of a flow in DCQCN (SIGCOMM 2015, section 3.1: N = 50 us). */
  public static final long NOTIFICATION_NANOS = 50_000;

  /** Nothing. */
  public static final CongestionOptions NONE = new CongestionOptions(null, NOTIFICATION_NANOS);

  public CongestionOptions {
    if (notificationNanos < 0) {
      throw new IllegalArgumentException(
          "%d ns between two CNPs: it may not be negative".formatted(notificationNanos));
    }
  }

  /** A policy with DCQCN's interval of notifications. */
  public static CongestionOptions of(CongestionPolicy policy) {
    return new CongestionOptions(policy, NOTIFICATION_NANOS);
  }
}
