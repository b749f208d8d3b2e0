package dev.doorbell.contract;

import dev.doorbell.core.hca.Hca;
import dev.doorbell.core.memory.MemoryProvider;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Two HCAs that reach each other, with memory and a CPU for each. A back end provides one to run
 * {@link HcaContractTest}.
 *
 * <p>Addresses of host memory, and of GPU memory where {@link #deviceMemoryIsAddressable}, may be
 * dereferenced by the test.
 */
public interface HcaWorld extends AutoCloseable {
  /** Optional features: some providers of verbs lack them. */
  enum Feature {
    /** Atomics of 4 bytes, and those with masks. */
    MASKED_ATOMICS,
    /** WAIT. */
    WAIT,
    /** DUMP. */
    DUMP,
    /** The queue pair that receives a faulty request goes to ERR. */
    RESPONDER_ERRORS,
    /** Asynchronous events. */
    ASYNC_EVENTS,
    /** P_Keys other than the default. */
    PARTITIONS,
    /** Messages of a queue pair complete in order, and those behind a failed one are flushed. */
    ORDERED_MESSAGES,
    /** Unreliable connections and datagrams. */
    UNRELIABLE_TRANSPORTS,
    /** Shared receive queues. */
    SHARED_RECEIVES,
    /** Events of completion queues. */
    COMPLETION_EVENTS,
    /** Inline and data segments in one work request. */
    MIXED_SEGMENTS,
    /** SEND with invalidate. */
    INVALIDATION,
    /** The exact syndrome of mlx5; without this feature, tests accept any error. */
    PRECISE_SYNDROMES
  }

  /** Features that this back end lacks. */
  default Set<Feature> lacks() {
    return Set.of();
  }

  /** HCA 0 or 1. */
  Hca hca(int side);

  /** Memory of the machine that HCA {@code side} is in. */
  MemoryProvider memory(int side);

  /** Stores 8 bytes to a doorbell register of HCA {@code side}. */
  void store64(int side, long address, long value);

  /** Lets the HCAs work until {@code done}, which is evaluated again and again, or less long. */
  void work(BooleanSupplier done);

  /** Wall time of a wait, in nanoseconds: many times what a busy machine needs. */
  default long waitNanos() {
    return 120_000_000_000L;
  }

  /**
   * Lets the HCAs work until {@code done}.
   *
   * @return false if {@link #waitNanos} passed first, or if {@link #work} ended first
   */
  default boolean runUntil(BooleanSupplier done) {
    long deadline = System.nanoTime() + waitNanos();
    boolean[] isDone = {false};
    work(
        () -> {
          isDone[0] = done.getAsBoolean();
          return isDone[0] || System.nanoTime() - deadline >= 0;
        });
    return isDone[0];
  }

  /** Lets the HCAs work until they are idle. */
  void settle();

  /** True when the CPU can address GPU memory here. */
  boolean deviceMemoryIsAddressable();

  @Override
  void close();
}
