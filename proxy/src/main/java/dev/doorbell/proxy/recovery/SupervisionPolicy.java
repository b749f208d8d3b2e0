package dev.doorbell.proxy.recovery;

/**
 * When a {@link PostingSupervisor} takes what a kernel posts on for broken, and how often it tries
 * again. All times are of the fabric's clock.
 *
 * @param pollNanos between two looks at the kernel
 * @param silenceNanos without progress while something is outstanding
 * @param settleNanos that a stopped connection gets to end what its DMA engines have begun, and the
 *     network to lose what is under way
 * @param arriveNanos within which posters have to come to the safe point; more than a device-side
 *     wait lasts
 * @param attempts failures without progress between them before it gives up
 * @param holdNanos for which the CPU posts before kernels may try again; doubled each time that it
 *     was too early
 */
public record SupervisionPolicy(
    long pollNanos,
    long silenceNanos,
    long settleNanos,
    long arriveNanos,
    int attempts,
    long holdNanos) {
  /**
   * Looks every 5 us, 1 ms of silence, 50 us to settle, 1 s to arrive, 8 attempts, 1 ms on the CPU.
   */
  public static final SupervisionPolicy DEFAULT =
      new SupervisionPolicy(5_000, 1_000_000, 50_000, 1_000_000_000, 8, 1_000_000);

  public SupervisionPolicy {
    if (pollNanos <= 0
        || silenceNanos < pollNanos
        || settleNanos < 0
        || arriveNanos < silenceNanos
        || attempts < 1
        || holdNanos < 0) {
      throw new IllegalArgumentException(
          "an impossible policy: polls every %d ns, silence %d ns, settle %d ns, arrive %d ns, %d attempts, hold %d ns"
              .formatted(pollNanos, silenceNanos, settleNanos, arriveNanos, attempts, holdNanos));
    }
  }
}
