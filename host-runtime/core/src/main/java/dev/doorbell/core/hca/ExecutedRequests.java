package dev.doorbell.core.hca;

/**
 * Progress of one end of a reliable connection with the requests of its peer. mlx5 has it as {@code
 * rmsn} of the queue pair's context.
 *
 * @param messages executed since the queue pair was connected, modulo 2^24: the MSN. A READ counts
 *     when it is accepted, an atomic when its result is stored
 */
public record ExecutedRequests(int messages) {
  /** Bits of {@link #messages}. */
  private static final int MASK = 0xff_ffff;

  /** Returns the number of messages executed, of which {@code known} are known to have been. */
  public long since(long known) {
    return known + ((messages - (int) known) & MASK);
  }
}
