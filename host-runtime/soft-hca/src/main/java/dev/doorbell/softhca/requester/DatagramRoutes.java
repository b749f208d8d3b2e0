package dev.doorbell.softhca.requester;

import dev.doorbell.core.roce.Gid;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.packet.Route;
import org.jspecify.annotations.Nullable;

/** The routes of a queue pair's datagrams. The last one is cached: most go to the same peer. */
final class DatagramRoutes {
  private final HcaServices hca;
  private long lastHigh;
  private long lastLow;
  private @Nullable Route last;

  DatagramRoutes(HcaServices hca) {
    this.hca = hca;
  }

  /** The route of frames, or null if the wire has none. */
  @Nullable Route everybody() {
    return hca.wire().everybody(hca);
  }

  /** The route to a GID, or null if there is none. */
  @Nullable Route to(long gidHigh, long gidLow) {
    Route route = last;
    if (route == null || gidHigh != lastHigh || gidLow != lastLow) {
      route =
          new Gid(gidHigh, gidLow).isMulticast()
              ? hca.wire().everybody(hca)
              : hca.wire().route(hca, gidHigh, gidLow);
      last = route;
      lastHigh = gidHigh;
      lastLow = gidLow;
    }
    return route;
  }
}
