package dev.doorbell.softhca.objects;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.softhca.objects.SoftMemoryRegion.Rights;

/**
 * The receiving half at the other end of a connection, where a requester that the same host thread
 * steps may reach the peer's memory without packets.
 */
public interface DirectPeer {
  /**
   * True when packet {@code psn} is expected next, nothing precedes it, and what it asks for is
   * allowed.
   *
   * @param right the one of {@link Rights} that the request needs
   */
  boolean accepts(int psn, int right);

  /** True when a receive WQE and room for its CQE are at hand. Changes nothing. */
  boolean acceptsImmediate();

  /** Completes that receive WQE: a WRITE with immediate data is where it belongs. */
  void completeImmediate(int bytes, int immediate, boolean solicited);

  /** The peer's queue pair. */
  QueuePairContext context();

  /** The port of the peer's HCA. */
  DevicePort port();

  /** Whole messages, counted in packets, were executed and acknowledged without packets. */
  void completeInline(int messages, int packets);

  /**
   * An atomic was executed and answered without packets.
   *
   * @param result the old value, which is remembered
   */
  void completeAtomic(int psn, long result);
}
