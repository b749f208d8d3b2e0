package dev.doorbell.softhca.packet;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.roce.Gid;
import org.jspecify.annotations.Nullable;

/** A wire carries packets between HCAs. An HCA joins one; addresses name HCAs on it. */
public abstract class Wire {
  /** The way from {@code from} to the HCA called {@code to}, or null when none has that name. */
  public abstract @Nullable Route route(Station from, String to);

  /**
   * The way from {@code from} to the HCA with that GID, for datagrams, or null when none has it.
   */
  public abstract @Nullable Route route(Station from, long gidHigh, long gidLow);

  /**
   * The way from {@code from} to every HCA, itself too, for multicasts; null where the wire has
   * none.
   */
  public @Nullable Route everybody(Station from) {
    return null;
  }

  /**
   * The GID of the HCA called {@code name}: 16 bytes, most significant first. Null when nobody has
   * that name.
   */
  public abstract long @Nullable [] gid(String name);

  /** Name of {@code station} in peers' addresses of its queue pairs. */
  public String address(Station station) {
    return station.name();
  }

  /**
   * Packets of one connection, with {@code payloadBytes} each, that may be without acknowledgement.
   * A wire that loses what its buffers do not hold bounds them: beyond that, sending more means
   * sending it again.
   */
  public int window(int payloadBytes) {
    return Integer.MAX_VALUE;
  }

  /** The HCA is closed: packets to it are dropped from now on. */
  public abstract void leave(Station station);

  public abstract String members();

  /** An HCA as a wire sees it. All calls are made by the host thread that steps the HCA. */
  public interface Station {
    String name();

    /** The upper half of its GID. */
    long gidHigh();

    /** The lower half of its GID. */
    long gidLow();

    /** True when a GID is one of its own: the one above, or another one of its table. */
    default boolean hasGid(long high, long low) {
      return high == gidHigh() && low == gidLow();
    }

    PortCounters counters();

    /** A packet arrives; the station gives it back to its pool. */
    void deliver(Packet packet);

    /** Pool of packets that arrive from outside of the process. */
    PacketPool packets();

    /** The clock and the delays of the HCA. */
    DevicePort port();

    /** From a packet's arrival to its effect, in nanoseconds of virtual time. */
    long receiveNanos(Packet packet);

    /** Returns true if packets take time between their arrival and their effect. */
    boolean delaysArrivals();

    /** The station is on {@code wire} from now on. */
    void plug(Wire wire);
  }

  /** The way from one HCA to one other, over a wire: what a connected queue pair sends on. */
  public abstract static class Route {
    /**
     * Takes the packet, which reaches the peer later or never. A wire that keeps it beyond the call
     * without {@link Packet#keep} reads its payload in place, in the sender's memory.
     */
    public abstract void transmit(Packet packet);

    /**
     * Acts as {@link #transmit}, with a bit flipped on the way: it takes its time, and the
     * receiver's ICRC check throws it away.
     */
    public void transmitCorrupt(Packet packet) {
      packet.pool.release(packet);
    }

    /**
     * The same way between two GIDs of its ends, which captures show. The wire itself needs none.
     */
    public Route between(Gid source, Gid destination) {
      return this;
    }

    /**
     * The peer, when packets reach it during {@link #transmit}, in order, and nobody looks at them
     * on the way; else null. It may change from call to call.
     */
    public @Nullable Station immediate() {
      return null;
    }

    /**
     * Returns true if a packet's source is this route's destination, or the wire has no address to
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
}
