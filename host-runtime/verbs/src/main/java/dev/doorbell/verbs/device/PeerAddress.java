package dev.doorbell.verbs.device;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.roce.Gid;

/**
 * The network address of a peer.
 *
 * @param gid its GID
 * @param lid its local identifier on InfiniBand, 0 on Ethernet
 */
public record PeerAddress(Gid gid, int lid) {
  private static final int MAX_LID = 0xbfff;

  /**
   * Parses what {@link DeviceContext#address} returned at the peer.
   *
   * @throws HcaException if it is malformed or of the other link layer
   */
  public static PeerAddress of(QueuePairAddress peer, DeviceContext context) {
    String text = peer.hca();
    int comma = text.indexOf(',');
    try {
      int lid = comma < 0 ? 0 : Integer.parseInt(text.substring(comma + 1));
      Gid gid = Gid.parse(comma < 0 ? text : text.substring(0, comma));
      if (context.port.ethernet() != (comma < 0) || lid < 0 || lid > MAX_LID) {
        throw new IllegalArgumentException(
            "one end is on Ethernet and the other on InfiniBand; both must be on one fabric");
      }
      return new PeerAddress(gid, lid);
    } catch (IllegalArgumentException e) {
      throw new HcaException(
          "%s cannot reach '%s': %s".formatted(context.name, text, e.getMessage()), Errno.EINVAL);
    }
  }
}
