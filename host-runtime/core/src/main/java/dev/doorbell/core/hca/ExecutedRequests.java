package dev.doorbell.core.hca;

import java.util.List;
import java.util.OptionalLong;

/**
 * Progress of one end of a reliable connection with the requests of its peer, which the peer has to
 * know before it repeats anything after an error. mlx5 has the count as {@code rmsn} of the queue
 * pair's context.
 *
 * @param messages executed since the queue pair was connected, modulo 2^24: the MSN. A READ counts
 *     when it is accepted, an atomic when its result is stored
 * @param atomics the results that are still known, oldest first
 */
public record ExecutedRequests(int messages, List<AtomicResult> atomics) {
  /** Bits of {@link #messages}. */
  public static final int MASK = 0xff_ffff;

  /**
   * The result of an atomic.
   *
   * @param message its number among the messages, from 0, modulo 2^24
   * @param value what the cell held before
   */
  public record AtomicResult(int message, long value) {}

  public ExecutedRequests {
    atomics = List.copyOf(atomics);
  }

  /** Returns the number of messages executed, of which {@code known} are known to have been. */
  public long since(long known) {
    return known + ((messages - (int) known) & MASK);
  }

  /** The result of the atomic that was message {@code number}, if it is still known. */
  public OptionalLong result(long number) {
    return atomics.stream()
        .filter(one -> one.message == ((int) number & MASK))
        .mapToLong(AtomicResult::value)
        .findFirst();
  }
}
