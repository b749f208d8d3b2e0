package dev.doorbell.softhca.queuepair;

import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.packet.Psn;
import dev.doorbell.softhca.packet.Wire.Route;

/** Refuses peers, connection attributes and state transitions that no HCA accepts. */
final class ConnectionChecks {
  private ConnectionChecks() {}

  static void check(
      QueuePairAddress peer, ConnectionAttributes attributes, SoftHcaOptions.Limits limits) {
    require(
        SoftHcaOptions.Engine.isMtu(peer.mtu()),
        "path MTU",
        peer.mtu(),
        "256, 512, 1024, 2048 or 4096");
    require((peer.number() & Psn.MASK) == peer.number(), "peer number", peer.number(), "24 bits");
    require(
        (peer.startPsn() & Psn.MASK) == peer.startPsn(), "peer PSN", peer.startPsn(), "24 bits");
    check(attributes, limits);
  }

  static void check(ConnectionAttributes attributes, SoftHcaOptions.Limits limits) {
    require(
        (attributes.partitionKey() & 0xffff) == attributes.partitionKey()
            && (attributes.partitionKey() & 0x7fff) != 0,
        "partition key",
        attributes.partitionKey(),
        "16 bits, the lower 15 not all 0");
    require(in(attributes.ackTimeout(), 31), "ACK timeout", attributes.ackTimeout(), "0 to 31");
    require(in(attributes.retryCount(), 7), "retry count", attributes.retryCount(), "0 to 7");
    require(in(attributes.rnrRetry(), 7), "RNR retry", attributes.rnrRetry(), "0 to 7");
    require(in(attributes.minRnrTimer(), 31), "RNR timer", attributes.minRnrTimer(), "0 to 31");
    require(
        attributes.maxReadAtomic() >= 1 && attributes.maxReadAtomic() <= limits.readAtomic(),
        "READs and atomics as requester",
        attributes.maxReadAtomic(),
        "1 to " + limits.readAtomic());
    require(
        attributes.maxDestReadAtomic() >= 1
            && attributes.maxDestReadAtomic() <= limits.readAtomic(),
        "READs and atomics as responder",
        attributes.maxDestReadAtomic(),
        "1 to " + limits.readAtomic());
  }

  /**
   * Checks the attributes of RTR to RTS. The partition is none that may change there (InfiniBand,
   * table 91; ib_modify_qp_is_ok of Linux): packets of the peer may have been accepted in it.
   */
  static void checkAtRts(
      ConnectionAttributes attributes, int partitionKey, SoftHcaOptions.Limits limits) {
    check(attributes, limits);
    require(
        attributes.partitionKey() == partitionKey,
        "partition key of toRts",
        attributes.partitionKey(),
        "that of toRtr, %d".formatted(partitionKey));
  }

  /** Refuses the toRtr of the other kind of queue pair. */
  static void requireTransport(QueuePairContext queuePair, String hca, boolean withoutPeer) {
    if ((queuePair.isDatagram() || queuePair.isDynamic()) != withoutPeer) {
      throw new HcaException(
          (withoutPeer
                  ? "toRtr: queue pair 0x%x of %s is a connection; name its peer: toRtr(peer,"
                      + " attributes)"
                  : "toRtr: queue pair 0x%x of %s names its peers in its WQEs and has none; call"
                      + " toRtr(attributes)")
              .formatted(queuePair.number, hca),
          Errno.EINVAL);
    }
  }

  /** The route of queue pair {@code number} to a peer; refuses a peer that is not on the wire. */
  static Route routeTo(QueuePairAddress peer, int number, HcaServices hca) {
    Route route = hca.wire().route(hca, peer.hca());
    if (route == null) {
      throw new HcaException(
          "queue pair 0x%x of %s cannot connect: no HCA called '%s' is on its wire; there are: %s"
              .formatted(number, hca.name(), peer.hca(), hca.wire().members()),
          Errno.EINVAL);
    }
    return route;
  }

  /** The refusal of a state transition, which names the legal ones. */
  static HcaException illegal(
      QueuePairContext queuePair, String hca, QueuePairState to, String call) {
    String fix =
        switch (to) {
          case INIT -> "only from RESET; call toReset() first";
          case RTR -> "only from INIT; call toInit() before it";
          case RTS -> "only from RTR; call toRtr() before it";
          case ERR -> "from any state but RESET; a queue pair in RESET has nothing to flush";
          case RESET -> "from any state";
        };
    return new HcaException(
        "%s: queue pair 0x%x of %s is in %s and cannot go to %s: %s"
            .formatted(call, queuePair.number, hca, queuePair.state(), to, fix),
        Errno.EINVAL);
  }

  private static boolean in(int value, int largest) {
    return value >= 0 && value <= largest;
  }

  private static void require(boolean holds, String what, int value, String legal) {
    if (!holds) {
      throw new HcaException(
          "cannot connect: %s is %d; legal is %s".formatted(what, value, legal), Errno.EINVAL);
    }
  }
}
