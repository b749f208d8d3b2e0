package dev.doorbell.interop.shim.cm;

import dev.doorbell.core.roce.Gid;
import java.util.List;

/**
 * A device as connections see it.
 *
 * @param number of {@code mlx5_N}
 * @param guid its node GUID
 * @param gids its GIDs by index
 */
public record CmDevice(int number, long guid, List<Gid> gids) {
  /** The index of a GID, or -1. */
  int indexOf(Gid gid) {
    return gids.indexOf(gid);
  }
}
