package dev.doorbell.softhca.packet;

import org.jspecify.annotations.Nullable;

/** What carries packets between HCAs. An HCA joins one; addresses name HCAs on it. */
public abstract class Wire {
  /** The way from {@code from} to the HCA called {@code to}, or null when nobody has that name. */
  public abstract @Nullable Route route(Station from, String to);

  /**
   * The way from {@code from} to the HCA with that GID, for datagrams, or null when nobody has it.
   */
  public abstract @Nullable Route route(Station from, long gidHigh, long gidLow);

  /**
   * The way from {@code from} to every HCA, itself too, for multicasts and Ethernet frames; null
   * where the wire has none.
   */
  public @Nullable Route everybody(Station from) {
    return null;
  }

  /**
   * The GID of the HCA called {@code name}: 16 bytes, most significant first. Null when nobody has
   * that name.
   */
  public abstract long @Nullable [] gid(String name);

  /** What peers name {@code station} by, in their addresses of its queue pairs. */
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

  /** Who is on it, for messages. */
  public abstract String members();
}
