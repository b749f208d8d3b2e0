package dev.doorbell.softhca.packet;

import dev.doorbell.core.fabric.DevicePort;

/** An HCA as a wire sees it. All calls are made by the host thread that steps the HCA. */
public interface Station {
  /** Its address on the wire. */
  String name();

  /** The upper half of its GID. */
  long gidHigh();

  /** The lower half of its GID. */
  long gidLow();

  /** True when a GID is one of its own: the one above, or another one of its table. */
  default boolean hasGid(long high, long low) {
    return high == gidHigh() && low == gidLow();
  }

  /** A packet arrives; the station gives it back to its pool. */
  void deliver(Packet packet);

  /** Where packets that arrive from outside of the process are taken from. */
  PacketPool packets();

  /** The clock and the delays of the HCA. */
  DevicePort port();

  /** From a packet's arrival to its effect, in nanoseconds of virtual time. */
  long receiveNanos(Packet packet);

  /** Whether packets take time between their arrival and their effect. */
  boolean delaysArrivals();

  /** The station is on {@code wire} from now on. */
  void plug(Wire wire);
}
