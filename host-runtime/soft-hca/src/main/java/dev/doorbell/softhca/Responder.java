package dev.doorbell.softhca;

import dev.doorbell.core.hca.ExecutedRequests;
import dev.doorbell.softhca.packet.Packet;
import org.jspecify.annotations.Nullable;

/** The receiving half of a queue pair. */
abstract class Responder {
  /** A request of the peer; the responder gives the packet back. */
  abstract void receive(Packet packet);

  /**
   * Moves on what can move on.
   *
   * @return work done, about in packets
   */
  abstract int run();

  /** Sends the ACK that is due. */
  abstract void acknowledge();

  /** How far requests were executed; null where nobody counts. */
  @Nullable ExecutedRequests executed() {
    return null;
  }

  /** What was under way is forgotten: the queue pair was reset or closed. */
  abstract void discard();
}
