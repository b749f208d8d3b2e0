package dev.doorbell.verbs;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.ReceiveSegment;
import dev.doorbell.core.mlx5.prm.PrmBuffer;
import dev.doorbell.core.mlx5.prm.QueuePairCommand;
import dev.doorbell.core.mlx5.prm.QueuePairContext;
import dev.doorbell.core.mlx5.prm.RoutePath;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A queue pair that firmware made in memory of ours: the receive ring, then the send ring. */
final class DevxQueuePair implements QueuePair {
  static final int HOP_LIMIT = 255;
  private static final int NONE = -1;

  private final DevxDomain domain;
  private final Mlx5Hca hca;
  private final QueuePairAttributes attributes;
  private final DevxCompletionQueue sendQueue;
  private final DevxCompletionQueue receiveQueue;
  private final @Nullable DevxSharedReceiveQueue sharedReceives;
  private final FirmwareMemory rings;
  private final FirmwareMemory record;
  private final DoorbellPage doorbells;
  private final DevxObject object;
  private final int startPsn;
  private QueuePairState state = QueuePairState.RESET;
  private boolean closed;

  DevxQueuePair(
      DevxDomain domain,
      QueuePairAttributes attributes,
      DevxCompletionQueue sendQueue,
      DevxCompletionQueue receiveQueue,
      @Nullable DevxSharedReceiveQueue sharedReceives,
      FirmwareMemory rings,
      FirmwareMemory record) {
    this.domain = domain;
    this.hca = domain.device();
    this.attributes = attributes;
    this.sendQueue = sendQueue;
    this.receiveQueue = receiveQueue;
    this.sharedReceives = sharedReceives;
    this.rings = rings;
    this.record = record;
    this.doorbells = hca.doorbellsFor(rings.memory());
    try {
      this.object = create();
    } catch (RuntimeException e) {
      hca.release(doorbells);
      throw e;
    }
    try {
      hca.queueEvents.watchQueuePair(object);
    } catch (RuntimeException e) {
      object.close();
      hca.release(doorbells);
      throw e;
    }
    this.startPsn = object.number() * 0x1_0001 & 0xff_ffff;
    sendQueue.use();
    receiveQueue.use();
    if (sharedReceives != null) {
      sharedReceives.use();
    }
  }

  private DevxObject create() {
    return DevxObject.create(
        hca.context,
        "a queue pair of %d blocks".formatted(attributes.sendBlocks()),
        QueuePairCommand.create(
            new QueuePairCommand.Shape(
                serviceType(attributes.transport()),
                domain.number(),
                doorbells.number(),
                Integer.numberOfTrailingZeros(attributes.sendBlocks()),
                attributes.receiveEntries() == 0
                    ? NONE
                    : Integer.numberOfTrailingZeros(attributes.receiveEntries()),
                sharedReceives == null ? NONE : sharedReceives.number(),
                sendQueue.number(),
                receiveQueue.number(),
                rings.start(),
                record.start())),
        PrmBuffer.HEADER_BYTES);
  }

  private static int serviceType(Transport transport) {
    return switch (transport) {
      case RC -> QueuePairContext.RC;
      case UC -> QueuePairContext.UC;
      case UD -> QueuePairContext.UD;
    };
  }

  @Override
  public int number() {
    return object.number();
  }

  @Override
  public QueuePairAttributes attributes() {
    return attributes;
  }

  @Override
  public QueuePairState state() {
    if (!closed) {
      PrmBuffer answer =
          object.query(
              "ask a queue pair for its state",
              QueuePairCommand.query(number()),
              QueuePairCommand.QUERY_ANSWER_BYTES);
      // Whatever else it tells of is an error or on the way to one.
      if (Transitions.of(QueuePairCommand.state(answer)) == QueuePairState.ERR) {
        state = QueuePairState.ERR;
      }
    }
    return state;
  }

  @Override
  public QueuePairAddress address() {
    return new QueuePairAddress(
        hca.context.address(), number(), startPsn, hca.context.port.mtuBytes());
  }

  @Override
  public long sendRingAddress() {
    return rings.address() + (long) attributes.receiveEntries() * ReceiveSegment.BYTES;
  }

  @Override
  public long receiveRingAddress() {
    return attributes.receiveEntries() == 0 ? 0 : rings.address();
  }

  @Override
  public long recordAddress() {
    return record.address();
  }

  @Override
  public long doorbellAddress() {
    return doorbells.standInRegister();
  }

  @Override
  public long deviceRegisterAddress() {
    return doorbells.register();
  }

  @Override
  public int blueFlameBytes() {
    // On a page that queue pairs share there is none: its halves are for one poster at a time.
    return hca.blueFlameBytes(doorbells);
  }

  private boolean isDatagram() {
    return attributes.transport() == Transport.UD;
  }

  private void go(QueuePairState to, java.util.function.Supplier<PrmBuffer> command) {
    if (closed) {
      throw new HcaException("%s of %s is closed".formatted(this, hca.name()));
    }
    Transitions.require("%s of %s".formatted(this, hca.name()), state(), to);
    object.modify("bring %s to %s".formatted(this, to), command.get(), PrmBuffer.HEADER_BYTES);
    state = to;
  }

  @Override
  public void toInit(Set<AccessRight> rights) {
    go(
        QueuePairState.INIT,
        () ->
            QueuePairCommand.toInit(
                number(),
                hca.context.port.number(),
                rights.contains(AccessRight.REMOTE_READ),
                rights.contains(AccessRight.REMOTE_WRITE),
                rights.contains(AccessRight.REMOTE_ATOMIC)));
  }

  @Override
  public void toRtr(QueuePairAddress peer, ConnectionAttributes with) {
    if (isDatagram()) {
      throw new HcaException(
          "%s of %s is for datagrams and has no peer; call toRtr(attributes)"
              .formatted(this, hca.name()),
          Errno.EINVAL);
    }
    VerbsConnection.requireDefaultPartition(hca.context, with);
    go(
        QueuePairState.RTR,
        () -> {
          PeerAddress to = PeerAddress.of(peer, hca.context);
          int mtu = Math.min(peer.mtu(), hca.context.port.mtuBytes());
          return QueuePairCommand.toRtr(
              number(),
              peer.number(),
              peer.startPsn(),
              PortInfo.mtuCode(mtu),
              with.minRnrTimer(),
              log(with.maxDestReadAtomic()),
              path(to, peer.number(), with.trafficClass()));
        });
  }

  private RoutePath path(PeerAddress to, int peerNumber, int trafficClass) {
    boolean ethernet = hca.context.port.ethernet();
    return new RoutePath(
        ethernet,
        hca.context.port.number(),
        ethernet ? hca.context.gid.entry().index() : 0,
        to.gid().high(),
        to.gid().low(),
        to.lid(),
        ethernet ? AddressResolution.macOf(domain, to, trafficClass) : 0,
        trafficClass,
        HOP_LIMIT,
        sourcePort(number(), peerNumber));
  }

  /** As Linux derives it from both numbers (rdma_calc_flow_label), so that flows are spread. */
  static int sourcePort(int number, int peer) {
    long mixed = (long) number * peer;
    mixed ^= mixed >>> 20;
    mixed ^= mixed >>> 40;
    int label = (int) (mixed & 0xf_ffff);
    return ((label & 0x3fff) ^ label >>> 14) | 0xc000;
  }

  private static int log(int reads) {
    return reads <= 1 ? 0 : Integer.SIZE - 1 - Integer.numberOfLeadingZeros(reads);
  }

  @Override
  public void toRtr(ConnectionAttributes with) {
    if (!isDatagram()) {
      throw new HcaException(
          "%s of %s has a peer; call toRtr(peer, attributes)".formatted(this, hca.name()),
          Errno.EINVAL);
    }
    VerbsConnection.requireDefaultPartition(hca.context, with);
    go(
        QueuePairState.RTR,
        () -> QueuePairCommand.toRtr(number(), hca.context.port.number(), with.queueKey()));
  }

  @Override
  public void toRts(ConnectionAttributes with) {
    go(
        QueuePairState.RTS,
        () ->
            isDatagram()
                ? QueuePairCommand.toRts(number(), startPsn)
                : QueuePairCommand.toRts(
                    number(),
                    startPsn,
                    with.ackTimeout(),
                    with.retryCount(),
                    with.rnrRetry(),
                    log(with.maxReadAtomic())));
  }

  @Override
  public void toError() {
    go(QueuePairState.ERR, () -> QueuePairCommand.toError(number()));
  }

  @Override
  public void toReset() {
    go(QueuePairState.RESET, () -> QueuePairCommand.toReset(number()));
    record.memory().fill(0, DoorbellRecord.BYTES, (byte) 0);
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    object.close();
    closed = true;
    state = QueuePairState.RESET;
    sendQueue.unuse();
    receiveQueue.unuse();
    if (sharedReceives != null) {
      sharedReceives.unuse();
    }
    domain.closed(this);
    hca.release(doorbells);
    record.close();
    rings.close();
  }

  @Override
  public String toString() {
    return "queue pair 0x%x".formatted(number());
  }
}
