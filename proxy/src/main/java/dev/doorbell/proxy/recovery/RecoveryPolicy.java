package dev.doorbell.proxy.recovery;

/**
 * When to give a connection up, and how often.
 *
 * @param silenceNanos without any command ending while some wait
 * @param settleNanos that a stopped connection gets to end what its DMA engines have begun
 * @param attempts connections that may fail with no command ending on them, before the channel
 *     gives up
 */
public record RecoveryPolicy(long silenceNanos, long settleNanos, int attempts) {
  /** 10 ms of silence, 100 us to settle, three connections in a row. */
  public static final RecoveryPolicy DEFAULT = new RecoveryPolicy(10_000_000, 100_000, 3);

  public RecoveryPolicy {
    if (silenceNanos <= 0 || settleNanos < 0 || attempts < 1) {
      throw new IllegalArgumentException(
          "an impossible policy: silence %d ns, settle %d ns, %d attempts"
              .formatted(silenceNanos, settleNanos, attempts));
    }
  }
}
