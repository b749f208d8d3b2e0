package dev.doorbell.proxy.recovery;

/**
 * A change of who posts, in the middle of a kernel's run.
 *
 * @param to who posts from then on
 * @param wantedNanos when the host asked posters to the safe point, or the first had failed
 * @param arrivedNanos when the last poster was there
 * @param grantedNanos when they were let go on: everything posted before is done
 */
public record ModeSwitch(Poster to, long wantedNanos, long arrivedNanos, long grantedNanos) {
  /** Who posts. */
  public enum Poster {
    /** The kernel, on its queue pair. */
    GPU,
    /** The CPU, what the kernel hands over as commands. */
    CPU
  }

  /** For how long posting stood still, at most. */
  public long nanos() {
    return grantedNanos - wantedNanos;
  }
}
