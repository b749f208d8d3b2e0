package dev.doorbell.interop.shim.object;

import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.core.uverbs.generated.UverbsAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.softhca.queuepair.SoftQueuePair;
import java.util.List;

/** The state transitions of a queue pair with the attributes that were set. */
public final class QueuePairControl extends QueuePairSettings {
  private static final int MAX_READS = 16;

  private final SoftQueuePair queuePair;
  private final Transport transport;

  public QueuePairControl(SoftQueuePair queuePair, Transport transport) {
    this.queuePair = queuePair;
    this.transport = transport;
  }

  /** The current state; a queue pair may have gone to ERR on its own. */
  @Override
  public int state() {
    return switch (queuePair.state()) {
      case RESET -> UverbsAbi.STATE_RESET;
      case INIT -> UverbsAbi.STATE_INIT;
      case RTR -> UverbsAbi.STATE_RTR;
      case RTS -> UverbsAbi.STATE_RTS;
      case ERR -> UverbsAbi.STATE_ERR;
    };
  }

  @Override
  public void transition(int next, ServedDevice device) throws ErrnoException {
    int from = state();
    if (next == UverbsAbi.STATE_RESET) {
      queuePair.toReset();
    } else if (next == UverbsAbi.STATE_ERR && from != UverbsAbi.STATE_RESET) {
      queuePair.toError();
    } else if (from == UverbsAbi.STATE_RESET && next == UverbsAbi.STATE_INIT) {
      queuePair.toInit(rights(access));
    } else if (from == UverbsAbi.STATE_INIT && next == UverbsAbi.STATE_INIT) {
      queuePair.allow(rights(access));
    } else if (from == UverbsAbi.STATE_INIT && next == UverbsAbi.STATE_RTR) {
      connect(device);
    } else if (from == UverbsAbi.STATE_RTR && next == UverbsAbi.STATE_RTS) {
      queuePair.startPsn(sendPsn);
      queuePair.allow(rights(access));
      queuePair.toRts(attributes());
    } else if (from == UverbsAbi.STATE_RTS && next == UverbsAbi.STATE_RTS) {
      queuePair.allow(rights(access));
      queuePair.connection(attributes());
    } else {
      throw new ErrnoException(Errno.EINVAL);
    }
  }

  private void connect(ServedDevice device) throws ErrnoException {
    queuePair.allow(rights(access));
    if (transport == Transport.DC && isMtu()) {
      queuePair.largestMtu(mtu());
    }
    if (transport == Transport.UD || transport == Transport.DC) {
      queuePair.toRtr(attributes());
      return;
    }
    ServedDevice peer = device.withGid(gidHigh, gidLow);
    if (!hasRoute || !isMtu() || peer == null) {
      throw new ErrnoException(Errno.EINVAL);
    }
    queuePair.toRtr(
        new QueuePairAddress(peer.name(), peerNumber & 0xff_ffff, receivePsn & 0xff_ffff, mtu()),
        attributes());
    List<Gid> own = device.gids();
    queuePair.between(own.get(gidIndex < own.size() ? gidIndex : 0), new Gid(gidHigh, gidLow));
  }

  private ConnectionAttributes attributes() {
    return new ConnectionAttributes(
        timeout,
        retryCount,
        rnrRetry,
        minRnrTimer,
        legalReads(readAtomic),
        legalReads(destReadAtomic),
        trafficClass,
        ConnectionAttributes.DEFAULT_PARTITION,
        queueKey);
  }

  /** READs outstanding; programs that issue none may ask for 0. */
  private static int legalReads(int reads) {
    return Math.clamp(reads, 1, MAX_READS);
  }
}
