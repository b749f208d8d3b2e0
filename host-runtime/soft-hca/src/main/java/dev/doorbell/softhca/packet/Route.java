package dev.doorbell.softhca.packet;

import org.jspecify.annotations.Nullable;

/** The way from one HCA to one other, over a wire: what a connected queue pair sends on. */
public abstract class Route {
  /**
   * Takes the packet, which reaches the peer later or never. A wire that keeps it beyond the call
   * without {@link Packet#keep} reads its payload in place, in the sender's memory.
   */
  public abstract void transmit(Packet packet);

  /**
   * As {@link #transmit}, with a bit flipped on the way: it takes its time, and the receiver's ICRC
   * check throws it away.
   */
  public void transmitCorrupt(Packet packet) {
    packet.pool.release(packet);
  }

  /**
   * The peer, when packets reach it during {@link #transmit}, in order, and nobody looks at them on
   * the way; else null. It may change from call to call.
   */
  public @Nullable Station immediate() {
    return null;
  }

  /**
   * Whether a packet's source is this route's destination. True where the wire has no address to
   * compare.
   *
   * @param peer number of the queue pair there
   */
  public boolean accepts(Packet packet, int peer) {
    return true;
  }

  /** A packet's travel, started by {@link #transmit} with the packet as completion, has ended. */
  public void arrived(Packet packet) {
    throw new IllegalStateException("nothing was under way for " + packet);
  }
}
