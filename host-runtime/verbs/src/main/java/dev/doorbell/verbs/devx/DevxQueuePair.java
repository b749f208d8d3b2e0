package dev.doorbell.verbs.devx;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.ReceiveSegment;
import dev.doorbell.core.mlx5.prm.PrmBuffer;
import dev.doorbell.core.mlx5.prm.QueuePairCommand;
import dev.doorbell.core.mlx5.prm.RoutePath;
import dev.doorbell.verbs.device.PeerAddress;
import dev.doorbell.verbs.device.PortInfo;
import dev.doorbell.verbs.device.Transitions;
import java.util.Set;

/** A queue pair that firmware created in our memory: the receive ring, then the send ring. */
final class DevxQueuePair implements QueuePair {
  static final int HOP_LIMIT = 255;
  private static final int NONE = -1;

  private final DevxDevice device;
  private final DevxDomain domain;
  private final QueuePairAttributes attributes;
  private final DevxCompletionQueue sendQueue;
  private final DevxCompletionQueue receiveQueue;
  private final FirmwareMemory rings;
  private final FirmwareMemory record;
  private final DoorbellPage doorbells;
  private final DevxObject object;
  private final int startPsn;
  private QueuePairState state = QueuePairState.RESET;
  private boolean closed;

  DevxQueuePair(
      DevxDevice device,
      DevxDomain domain,
      QueuePairAttributes attributes,
      DevxCompletionQueue sendQueue,
      DevxCompletionQueue receiveQueue,
      FirmwareMemory rings,
      FirmwareMemory record) {
    this.device = device;
    this.domain = domain;
    this.attributes = attributes;
    this.sendQueue = sendQueue;
    this.receiveQueue = receiveQueue;
    this.rings = rings;
    this.record = record;
    this.doorbells = device.doorbellsFor(rings.memory());
    try {
      this.object = create();
    } catch (RuntimeException e) {
      device.release(doorbells);
      throw e;
    }
    this.startPsn = object.number() * 0x1_0001 & 0xff_ffff;
    sendQueue.use();
    receiveQueue.use();
  }

  private DevxObject create() {
    return DevxObject.create(
        device.context,
        "a queue pair of %d blocks".formatted(attributes.sendBlocks()),
        QueuePairCommand.create(
            new QueuePairCommand.Shape(
                Mlx5Objects.domainNumber(domain.pd),
                doorbells.number(),
                Integer.numberOfTrailingZeros(attributes.sendBlocks()),
                attributes.receiveEntries() == 0
                    ? NONE
                    : Integer.numberOfTrailingZeros(attributes.receiveEntries()),
                sendQueue.number(),
                receiveQueue.number(),
                rings.start(),
                record.start())),
        PrmBuffer.HEADER_BYTES);
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
              "query the state of a queue pair",
              QueuePairCommand.query(number()),
              QueuePairCommand.QUERY_ANSWER_BYTES);
      // Firmware changes the state by itself only towards ERR.
      if (Transitions.of(QueuePairCommand.state(answer)) == QueuePairState.ERR) {
        state = QueuePairState.ERR;
      }
    }
    return state;
  }

  @Override
  public QueuePairAddress address() {
    return new QueuePairAddress(
        device.context.address(), number(), startPsn, device.context.port.mtuBytes());
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
    // A shared page has none: its BlueFlame halves serve one poster at a time.
    return device.blueFlameBytes(doorbells);
  }

  private void transition(QueuePairState to, java.util.function.Supplier<PrmBuffer> command) {
    if (closed) {
      throw new HcaException("%s of %s is closed".formatted(this, device.context.name));
    }
    Transitions.require("%s of %s".formatted(this, device.context.name), state(), to);
    object.modify("bring %s to %s".formatted(this, to), command.get(), PrmBuffer.HEADER_BYTES);
    state = to;
  }

  @Override
  public void toInit(Set<AccessRight> rights) {
    transition(
        QueuePairState.INIT,
        () ->
            QueuePairCommand.toInit(
                number(),
                device.context.port.number(),
                rights.contains(AccessRight.REMOTE_READ),
                rights.contains(AccessRight.REMOTE_WRITE),
                rights.contains(AccessRight.REMOTE_ATOMIC)));
  }

  @Override
  public void toRtr(QueuePairAddress peer, ConnectionAttributes with) {
    device.context.requireDefaultPartition(with);
    transition(
        QueuePairState.RTR,
        () -> {
          PeerAddress to = PeerAddress.of(peer, device.context);
          int mtu = Math.min(peer.mtu(), device.context.port.mtuBytes());
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
    boolean ethernet = device.context.port.ethernet();
    return new RoutePath(
        ethernet,
        device.context.port.number(),
        ethernet ? device.context.gid.entry().index() : 0,
        to.gid().high(),
        to.gid().low(),
        to.lid(),
        ethernet ? AddressResolution.macOf(domain, to, trafficClass) : 0,
        trafficClass,
        HOP_LIMIT,
        sourcePort(number(), peerNumber));
  }

  /** The UDP source port, derived from both numbers as Linux does (rdma_calc_flow_label). */
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
    throw new HcaException(
        "%s of %s has a peer; call toRtr(peer, attributes)".formatted(this, device.context.name),
        Errno.EINVAL);
  }

  @Override
  public void toRts(ConnectionAttributes with) {
    device.context.requireDefaultPartition(with);
    transition(
        QueuePairState.RTS,
        () ->
            QueuePairCommand.toRts(
                number(),
                startPsn,
                with.ackTimeout(),
                with.retryCount(),
                with.rnrRetry(),
                log(with.maxReadAtomic())));
  }

  @Override
  public void toError() {
    transition(QueuePairState.ERR, () -> QueuePairCommand.toError(number()));
  }

  @Override
  public void toReset() {
    transition(QueuePairState.RESET, () -> QueuePairCommand.toReset(number()));
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
    domain.closed(this);
    device.release(doorbells);
    record.close();
    rings.close();
  }

  @Override
  public String toString() {
    return "queue pair 0x%x".formatted(number());
  }
}
