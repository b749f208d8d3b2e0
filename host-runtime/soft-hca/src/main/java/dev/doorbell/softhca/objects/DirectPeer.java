package dev.doorbell.softhca.objects;

import dev.doorbell.core.fabric.DevicePort;

/**
 * The receiving half at the other end of a connection, where a requester that the same host thread
 * steps may write to the peer's memory without packets.
 */
public interface DirectPeer {
  /** True when packet {@code psn} is expected next, nothing precedes it, and WRITEs are allowed. */
  boolean acceptsWrite(int psn);

  /** The peer's queue pair. */
  QueuePairContext context();

  /** The port of the peer's HCA. */
  DevicePort port();

  /** Whole messages, counted in packets, were executed and acknowledged without packets. */
  void completeInline(int messages, int packets);
}
