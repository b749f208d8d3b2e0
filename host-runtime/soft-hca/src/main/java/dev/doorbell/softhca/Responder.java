package dev.doorbell.softhca;

import dev.doorbell.softhca.packet.Packet;

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

  /** What was under way is forgotten: the queue pair was reset or closed. */
  abstract void discard();
}
