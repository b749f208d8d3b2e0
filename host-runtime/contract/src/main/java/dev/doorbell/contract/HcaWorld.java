package dev.doorbell.contract;

import dev.doorbell.core.hca.Hca;
import dev.doorbell.core.memory.MemoryProvider;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Two HCAs that reach each other, and what a test needs around them. A back end that wants to pass
 * {@link HcaContractTest} provides one.
 *
 * <p>Addresses of host memory, and of GPU memory where {@link #deviceMemoryIsAddressable}, may be
 * dereferenced by the test.
 */
public interface HcaWorld extends AutoCloseable {
  /** What an HCA may lack: some providers of verbs have no word for it, or say less. */
  enum Feature {
    /** Atomics of 4 bytes, and those with masks. */
    MASKED_ATOMICS,
    /** WAIT. */
    WAIT,
    /** DUMP. */
    DUMP,
    /** Asynchronous events of the queue pair that a faulty request arrives at. */
    RESPONDER_EVENTS,
    /** P_Keys other than the default. */
    PARTITIONS,
    /** The very syndrome that mlx5 gives; without it, any error will do. */
    PRECISE_SYNDROMES
  }

  /** Features that tests have to do without. */
  default Set<Feature> lacks() {
    return Set.of();
  }

  /** HCA 0 or 1. */
  Hca hca(int side);

  /** Memory of the machine that HCA {@code side} is in. */
  MemoryProvider memory(int side);

  /** Stores 8 bytes to a doorbell register of HCA {@code side}. */
  void store64(int side, long address, long value);

  /** Lets the HCAs work until {@code done}, for a generous time; false when it never came. */
  boolean runUntil(BooleanSupplier done);

  /** Lets the HCAs finish what they can do by themselves. */
  void settle();

  /** True when the CPU can address GPU memory here. */
  boolean deviceMemoryIsAddressable();

  @Override
  void close();
}
