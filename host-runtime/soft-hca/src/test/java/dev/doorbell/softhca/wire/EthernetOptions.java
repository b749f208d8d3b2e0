package dev.doorbell.softhca.wire;

import dev.doorbell.core.roce.Gid;
import java.util.List;
import java.util.Map;

/**
 * This end of a cable to a guest.
 *
 * @param mac its MAC address, in the low 48 bits
 * @param gids its GID table
 * @param gidIndex the entry that packets come from
 * @param neighbours MAC addresses that are known from the start; others are asked for
 */
public record EthernetOptions(long mac, GidTable gids, int gidIndex, Map<Gid, Long> neighbours) {
  public EthernetOptions {
    neighbours = Map.copyOf(neighbours);
  }

  /** RoCEv2 from one IP address. */
  public static EthernetOptions of(long mac, Gid address) {
    GidTable table = GidTable.of(mac, List.of(address));
    return new EthernetOptions(mac, table, table.indexOf(address, RoceVersion.V2), Map.of());
  }
}
