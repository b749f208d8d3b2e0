package dev.doorbell.proxy.recovery;

/**
 * One failure and how it was got over. Times are on the fabric's clock.
 *
 * @param cause what gave the failure away
 * @param from connection that failed
 * @param to connection that went on
 * @param lastProgressNanos when the last command had ended before, or the oldest was posted
 * @param detectedNanos when the failure was noticed
 * @param resumedNanos when the new connection had its work
 * @param outstanding commands without a completion
 * @param executed of those, had been executed all the same, and were not posted again
 * @param replayed of those, were posted again
 * @param lost of those, whose result cannot be had any more; they ended as failed
 */
public record Recovery(
    Cause cause,
    String from,
    String to,
    long lastProgressNanos,
    long detectedNanos,
    long resumedNanos,
    int outstanding,
    int executed,
    int replayed,
    int lost) {

  /** Sign of a failure. */
  public enum Cause {
    /** An error CQE. */
    ERROR,
    /** No command ended for as long as the policy waits. */
    SILENCE
  }

  /** From the last sign of life to the notice. */
  public long detectNanos() {
    return detectedNanos - lastProgressNanos;
  }

  /** From the notice until work went on. */
  public long recoverNanos() {
    return resumedNanos - detectedNanos;
  }
}
