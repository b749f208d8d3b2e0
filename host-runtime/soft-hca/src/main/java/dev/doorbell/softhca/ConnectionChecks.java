package dev.doorbell.softhca;

import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.softhca.packet.Psn;
import dev.doorbell.softhca.packet.Route;

/** Refuses peers and connection attributes that no HCA accepts. */
final class ConnectionChecks {
  private ConnectionChecks() {}

  static void check(
      QueuePairAddress peer, ConnectionAttributes attributes, SoftHcaOptions options) {
    require(
        SoftHcaOptions.isMtu(peer.mtu()), "path MTU", peer.mtu(), "256, 512, 1024, 2048 or 4096");
    require((peer.number() & Psn.MASK) == peer.number(), "peer number", peer.number(), "24 bits");
    require(
        (peer.startPsn() & Psn.MASK) == peer.startPsn(), "peer PSN", peer.startPsn(), "24 bits");
    check(attributes, options);
  }

  static void check(ConnectionAttributes attributes, SoftHcaOptions options) {
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
        attributes.maxReadAtomic() >= 1
            && attributes.maxReadAtomic() <= options.limits().readAtomic(),
        "READs and atomics as requester",
        attributes.maxReadAtomic(),
        "1 to " + options.limits().readAtomic());
    require(
        attributes.maxDestReadAtomic() >= 1
            && attributes.maxDestReadAtomic() <= options.limits().readAtomic(),
        "READs and atomics as responder",
        attributes.maxDestReadAtomic(),
        "1 to " + options.limits().readAtomic());
  }

  static void requireConnection(SoftQueuePair queuePair) {
    if (queuePair.isDatagram) {
      throw new HcaException(
          "toRtr: queue pair 0x%x of %s sends datagrams and has no peer; call toRtr(attributes)"
              .formatted(queuePair.number(), queuePair.hca.name()),
          HcaErrno.EINVAL);
    }
  }

  static void requireDatagrams(SoftQueuePair queuePair) {
    if (!queuePair.isDatagram) {
      throw new HcaException(
          "toRtr: queue pair 0x%x of %s is a connection; name its peer: toRtr(peer, attributes)"
              .formatted(queuePair.number(), queuePair.hca.name()),
          HcaErrno.EINVAL);
    }
  }

  /** The way to a peer; refuses one that nobody on the wire knows. */
  static Route wayTo(QueuePairAddress peer, SoftQueuePair queuePair) {
    SoftHca hca = queuePair.hca;
    Route way = hca.wire().route(hca, peer.hca());
    if (way == null) {
      throw new HcaException(
          "queue pair 0x%x of %s cannot connect: no HCA called '%s' is on its wire; there are: %s"
              .formatted(queuePair.number(), hca.name(), peer.hca(), hca.wire().members()),
          HcaErrno.EINVAL);
    }
    return way;
  }

  private static boolean in(int value, int largest) {
    return value >= 0 && value <= largest;
  }

  private static void require(boolean holds, String what, int value, String legal) {
    if (!holds) {
      throw new HcaException(
          "cannot connect: %s is %d; legal is %s".formatted(what, value, legal), HcaErrno.EINVAL);
    }
  }
}
