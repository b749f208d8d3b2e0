package dev.doorbell.softhca;

/** The way from one HCA to one other, over a wire: what a connected queue pair sends on. */
abstract class Route {
  /** Takes the packet, which reaches the peer later or never; in order with the others. */
  abstract void transmit(Packet packet);

  /** A packet's travel, started by {@link #transmit} with the packet as completion, has ended. */
  abstract void arrived(Packet packet);
}
