package dev.doorbell.softhca;

import dev.doorbell.softhca.packet.Route;
import org.jspecify.annotations.Nullable;

/** The ways of a queue pair's datagrams, with the last one at hand: most go to the same peer. */
final class DatagramWays {
  private final SoftHca hca;
  private long lastHigh;
  private long lastLow;
  private @Nullable Route last;

  DatagramWays(SoftHca hca) {
    this.hca = hca;
  }

  /** The way to that GID, or null when nobody has it. */
  @Nullable Route to(long gidHigh, long gidLow) {
    Route way = last;
    if (way == null || gidHigh != lastHigh || gidLow != lastLow) {
      way = hca.wire().route(hca, gidHigh, gidLow);
      last = way;
      lastHigh = gidHigh;
      lastLow = gidLow;
    }
    return way;
  }
}
