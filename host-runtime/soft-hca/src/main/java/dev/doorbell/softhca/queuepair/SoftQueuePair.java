package dev.doorbell.softhca.queuepair;

import dev.doorbell.core.fault.Fault;
import dev.doorbell.core.fault.FaultAction;
import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.ExecutedRequests;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.softhca.device.HcaFaults;
import dev.doorbell.softhca.device.HcaFaults.FaultTarget;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.objects.Completions;
import dev.doorbell.softhca.objects.DirectPeer;
import dev.doorbell.softhca.objects.ObjectOwner;
import dev.doorbell.softhca.objects.ObjectOwner.Owned;
import dev.doorbell.softhca.objects.QueueMemory;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.objects.ReceiveSource;
import dev.doorbell.softhca.objects.SoftMemoryRegion.Rights;
import dev.doorbell.softhca.objects.SoftSharedReceiveQueue;
import dev.doorbell.softhca.objects.TxQueue;
import dev.doorbell.softhca.objects.Uar;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.PacketOpcode;
import dev.doorbell.softhca.packet.PortCounters.Counter;
import dev.doorbell.softhca.packet.Psn;
import dev.doorbell.softhca.packet.Wire.Route;
import dev.doorbell.softhca.queuepair.HcaEngine.ScheduledQueuePair;
import dev.doorbell.softhca.requester.Requester;
import dev.doorbell.softhca.requester.WqeSource;
import dev.doorbell.softhca.responder.Responder;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A queue pair of any transport: its state machine, its memory, and its two halves. */
public final class SoftQueuePair extends ScheduledQueuePair implements QueuePair, Owned {
  private static final int PSN_STEP = 0x9e_3779;
  private static final int RESET_PSN_STEP = 0x15_5555;

  /** Bytes of a CNP behind its BTH, all zero. */
  private static final int NOTIFICATION_BYTES = 16;

  private final HcaObjects objects;
  private final HcaServices hca;
  private final @Nullable SoftSharedReceiveQueue sharedReceives;
  private final int transportBits;
  private final QueuePairAttributes attributes;
  private final @Nullable Uar uar;
  private final @Nullable QueueMemory memory;
  private final @Nullable FrontEnd front;

  private int startPsn;

  /** Largest path MTU of an initiator's connections, in bytes. */
  private int largestMtu = Packet.MAX_PAYLOAD;

  private WqeSource wqes;
  private @Nullable Requester requester;
  private @Nullable Responder responder;

  /** Sends CNPs where the HCA reacts to congestion, one in an interval at most. */
  private @Nullable TxQueue notifications;

  private long nextNotification;
  private boolean closed;

  private boolean failing;

  public SoftQueuePair(
      HcaObjects objects,
      ObjectOwner domain,
      int number,
      QueuePairAttributes attributes,
      Completions sendCompletions,
      @Nullable Completions receiveCompletions,
      @Nullable SoftSharedReceiveQueue sharedReceives,
      @Nullable Uar uar,
      @Nullable QueueMemory memory,
      @Nullable FrontEnd front) {
    super(
        objects,
        number,
        objects.nextOrdinal(),
        attributes.transport(),
        domain,
        sendCompletions,
        receiveCompletions);
    this.objects = objects;
    this.hca = objects.hca;
    this.attributes = attributes;
    this.sharedReceives = sharedReceives;
    this.transportBits =
        switch (transport) {
          case RC, DC -> BthOpcode.RC;
          case UC -> BthOpcode.UC;
          case UD -> BthOpcode.UD;
        };
    this.uar = uar;
    this.memory = memory;
    this.front = front;
    this.startPsn = regions.psn(number * PSN_STEP);
    this.wqes = newSource();
    sendCompletions.use();
    if (receiveCompletions != null) {
      receiveCompletions.use();
    }
    if (sharedReceives != null) {
      sharedReceives.use();
    }
  }

  private WqeSource newSource() {
    QueueMemory own = memory;
    return own == null
        ? new WqeSource(this, hca, attributes.sendBlocks())
        : new WqeSource(
            this, hca, own.sendRing().address(), attributes.sendBlocks(), own.record().address());
  }

  /** The rings that software fills. */
  private QueueMemory memory() {
    return Objects.requireNonNull(memory, "a queue pair behind a front end");
  }

  /** The ring that its front end fills. */
  public WqeSource wqes() {
    return wqes;
  }

  private Requester newRequester() {
    return new Requester(
        this, hca, objects.completionQueues, wqes, attributes.sendBlocks(), startPsn);
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public QueuePairAttributes attributes() {
    return attributes;
  }

  /** Sets the first packet sequence number, before RTS. */
  public void startPsn(int psn) {
    startPsn = psn & Psn.MASK;
    if (requester != null && state == QueuePairState.RTR) {
      requester.discard();
      requester = newRequester();
    }
  }

  /** Bounds the path MTU of an initiator of dynamic connections, before RTR: 256 to 4096 bytes. */
  public void largestMtu(int bytes) {
    largestMtu = bytes;
  }

  /**
   * Multicasts to that group are received here, unless this queue pair has sent them.
   *
   * @throws HcaException on transports without datagrams, and where the GID is none of a group
   */
  public void join(Gid group) {
    requireOpen("join");
    if (!isDatagram() || !group.isMulticast()) {
      throw new HcaException(
          "join: %s of %s is of %s, and %s is a group's GID: %b"
              .formatted(this, hca.name(), transport, group, group.isMulticast()),
          Errno.EINVAL);
    }
    engine.groups.attach(group, this);
  }

  /** Ends a {@link #join}; false if there was none. */
  public boolean leave(Gid group) {
    return engine.groups.detach(group, this);
  }

  /** Sets what peers may do from now on. */
  public void allow(Set<AccessRight> rights) {
    this.rights = Rights.bits(rights);
  }

  /** Changes the attributes of a connection but the numbers of READs and atomics, which stay. */
  public void connection(ConnectionAttributes attributes) {
    ConnectionChecks.check(attributes, hca.options().limits());
    connection = attributes;
    partitionKey = attributes.partitionKey();
  }

  @Override
  public QueuePairAddress address() {
    return new QueuePairAddress(
        hca.wire().address(hca), number, startPsn, hca.options().engine().mtu());
  }

  @Override
  public @Nullable ExecutedRequests executed() {
    return responder == null ? null : responder.executed();
  }

  @Override
  public long sendRingAddress() {
    return memory().sendRing().address();
  }

  @Override
  public long receiveRingAddress() {
    Memory ring = memory().receiveRing();
    return ring == null ? 0 : ring.address();
  }

  @Override
  public long recordAddress() {
    return memory().record().address();
  }

  @Override
  public long doorbellAddress() {
    return Objects.requireNonNull(uar).register();
  }

  @Override
  public int blueFlameBytes() {
    return hca.options().limits().blueFlameBytes();
  }

  @Override
  public void toInit(Set<AccessRight> rights) {
    require(QueuePairState.RESET, QueuePairState.INIT, "toInit");
    this.rights = Rights.bits(rights);
    state = QueuePairState.INIT;
  }

  @Override
  public void toRtr(QueuePairAddress peer, ConnectionAttributes attributes) {
    require(QueuePairState.INIT, QueuePairState.RTR, "toRtr");
    ConnectionChecks.requireTransport(this, hca.name(), false);
    ConnectionChecks.check(peer, attributes, hca.options().limits());
    Route there = ConnectionChecks.routeTo(peer, number, hca);
    route = there;
    peerNumber = peer.number();
    mtu = Math.min(peer.mtu(), hca.options().engine().mtu());
    HcaFaults faults = hca.faults();
    Fault fault = faults == null ? null : faults.onConnect(this);
    if (fault != null && fault.action() == FaultAction.MTU_MISMATCH) {
      mtu = fault.number();
    } else if (fault != null) {
      route = new DroppingRoute(there);
    }
    ready(peer.startPsn() & Psn.MASK, attributes);
  }

  @Override
  public void toRtr(ConnectionAttributes attributes) {
    require(QueuePairState.INIT, QueuePairState.RTR, "toRtr");
    ConnectionChecks.requireTransport(this, hca.name(), true);
    ConnectionChecks.check(attributes, hca.options().limits());
    mtu = Math.min(largestMtu, hca.options().engine().mtu());
    ready(0, attributes);
  }

  private void ready(int expectedPsn, ConnectionAttributes attributes) {
    connection = attributes;
    partitionKey = attributes.partitionKey();
    ReceiveSource receives =
        front != null
            ? front.receives(this)
            : memory().receives(this, hca.port(), this.attributes.receiveEntries(), sharedReceives);
    responder = Responder.create(this, hca, receives, expectedPsn);
    requester = newRequester();
    notifications =
        isReliable() && !isDynamic() && hca.options().congestion().policy() != null
            ? new TxQueue(this, hca, 0)
            : null;
    nextNotification = Long.MIN_VALUE;
    state = QueuePairState.RTR;
  }

  @Override
  public void toRts(ConnectionAttributes attributes) {
    require(QueuePairState.RTR, QueuePairState.RTS, "toRts");
    ConnectionChecks.checkAtRts(attributes, partitionKey, hca.options().limits());
    connection = attributes;
    if (requester != null) {
      requester.attributesChanged();
    }
    maxReadAtomic = Math.min(attributes.maxReadAtomic(), hca.options().limits().readAtomic());
    state = QueuePairState.RTS;
    requests.begin();
    // What was posted before could not be carried out yet.
    wqes.readRecord();
    activateFromOutside();
  }

  @Override
  public void toError() {
    requireOpen("toError");
    if (state == QueuePairState.RESET) {
      throw ConnectionChecks.illegal(this, hca.name(), QueuePairState.ERR, "toError");
    }
    enterError();
    requests.begin();
    wqes.readRecord();
    activateFromOutside();
  }

  @Override
  public void toReset() {
    requireOpen("toReset");
    discard();
    failing = false;
    wqes = newSource();
    state = QueuePairState.RESET;
    reach(null, 0);
    // Packets of the old connection that are still under way must not fit the next one.
    startPsn = (startPsn + RESET_PSN_STEP) & Psn.MASK;
    if (memory != null) {
      memory.record().fill(0, DoorbellRecord.BYTES, (byte) 0);
    }
  }

  private void discard() {
    wqes.discard();
    if (requester != null) {
      requester.discard();
      requester = null;
    }
    if (responder != null) {
      responder.discard();
      responder = null;
    }
  }

  private void require(QueuePairState from, QueuePairState to, String call) {
    requireOpen(call);
    if (state != from) {
      throw ConnectionChecks.illegal(this, hca.name(), to, call);
    }
  }

  private void requireOpen(String call) {
    if (closed) {
      throw new HcaException(
          "%s: queue pair 0x%x of %s is closed".formatted(call, number, hca.name()));
    }
  }

  @Override
  public void enterError() {
    if (state == QueuePairState.ERR) {
      return;
    }
    state = QueuePairState.ERR;
    if (requester != null) {
      requester.enterError();
    }
    if (front != null) {
      front.onError();
    }
    activate();
  }

  /** Something was stored to a register of its front end, which is for it. On any thread. */
  public void ringFront() {
    requests.informed();
    engine.ring(this);
  }

  // Data path.

  @Override
  public void ring(int index) {
    requests.informed();
    // The index is stored before the queue pair is listed: who takes it from the list sees it.
    wqes.ring(index);
    engine.ring(this);
  }

  @Override
  public void offerBlueFlame(long source, int bytes) {
    wqes.offerBlueFlame(source, bytes);
  }

  @Override
  public boolean isFailing() {
    return failing;
  }

  @Override
  public void failSoon() {
    failing = true;
    activateFromOutside();
  }

  @Override
  public void failFromOutside() {
    if (!closed && state != QueuePairState.RESET) {
      toError();
    }
  }

  /** Runs both halves. */
  @Override
  int run(int budget) {
    int work = 0;
    if (closed) {
      return 0;
    }
    if (failing) {
      failing = false;
      failFromOutside();
    }
    if (responder != null) {
      responses.begin();
      work += responder.run();
    }
    if (front != null) {
      work += front.run();
    }
    requests.begin();
    if (requester != null) {
      work += requester.run(budget);
    } else {
      wqes.run();
    }
    return work;
  }

  @Override
  void receive(Packet packet) {
    boolean notification = packet.opcode == BthOpcode.CONGESTION_NOTIFICATION;
    if (!acceptsPartition(packet.partitionKey)
        || packet.dynamic != isDynamic()
        || (!notification && PacketOpcode.transport(packet.opcode) != transportBits)) {
      packet.pool.release(packet);
    } else if (isFromOtherPeer(packet)) {
      hca.countStranger();
      packet.pool.release(packet);
    } else if (notification) {
      if (requester != null) {
        requester.onNotification();
      }
      packet.pool.release(packet);
    } else if (BthOpcode.isResponse(packet.opcode)) {
      if (requester != null) {
        requests.begin();
        requests.acknowledged(packet.knowledge);
        requester.receive(packet);
      }
      packet.pool.release(packet);
    } else if (responder != null) {
      responses.begin();
      if (notifications != null && packet.isMarked()) {
        hca.counters().add(Counter.NP_ECN_MARKED_ROCE_PACKETS);
        notifyCongestion(notifications);
      }
      responder.receive(packet);
    } else {
      packet.pool.release(packet);
    }
  }

  /** Answers a marked request with a CNP (RoCEv2 annex A17.9.3), one in an interval at most. */
  private void notifyCongestion(TxQueue tx) {
    long now = hca.port().now();
    if (now < nextNotification) {
      return;
    }
    hca.counters().add(Counter.NP_CNP_SENT);
    nextNotification = now + hca.options().congestion().notificationNanos();
    Packet packet = hca.packets().takeSpare();
    packet.opcode = BthOpcode.CONGESTION_NOTIFICATION;
    packet.destination = peerNumber();
    packet.psn = 0;
    packet.backwardCongestion = true;
    packet.payload = packet.buffer();
    packet.bytes = NOTIFICATION_BYTES;
    RawMemory.putLong(packet.payload, 0);
    RawMemory.putLong(packet.payload + Long.BYTES, 0);
    tx.add(packet);
  }

  /** The packet names this queue pair and comes from elsewhere than its peer. */
  private boolean isFromOtherPeer(Packet packet) {
    Route there = route;
    return there != null && !there.accepts(packet, peerNumber);
  }

  @Override
  public @Nullable DirectPeer directPeer() {
    Route there = route;
    FaultTarget found =
        hca.isImmediate()
                && there != null
                && there.immediate() instanceof HcaServices other
                && other.isImmediate()
            ? other.faultTarget(peerNumber)
            : null;
    return found instanceof SoftQueuePair peer
            && peer.transport == transport
            && peer.isDirectlyReachable(this)
            && peer.responder instanceof DirectPeer half
        ? half
        : null;
  }

  /** This queue pair is connected to {@code from}, and answers would reach that one at once. */
  private boolean isDirectlyReachable(SoftQueuePair from) {
    Route back = route;
    return (state == QueuePairState.RTS || state == QueuePairState.RTR)
        && peerNumber == from.number
        && acceptsPartition(from.partitionKey)
        && back != null
        && from.hca.equals(back.immediate());
  }

  @Override
  void acknowledge() {
    if (responder != null) {
      responses.begin();
      responder.acknowledge();
    }
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    engine.groups.forget(this);
    discard();
    state = QueuePairState.RESET;
    sendCompletions.unuse(this);
    if (receiveCompletions != null) {
      receiveCompletions.unuse(this);
    }
    if (uar != null) {
      hca.port().offMmio(uar.page().address());
      hca.free(uar.page());
    }
    if (sharedReceives != null) {
      sharedReceives.unuse();
    }
    domain.closing(this);
    if (memory != null) {
      memory.close();
    }
  }

  /** The route of a connection that a fault leads nowhere. */
  private static final class DroppingRoute extends Route {
    private final Route to;

    DroppingRoute(Route to) {
      this.to = to;
    }

    @Override
    public boolean accepts(Packet packet, int peer) {
      return to.accepts(packet, peer);
    }

    @Override
    public void transmit(Packet packet) {
      packet.pool.release(packet);
    }
  }

  @Override
  String describe() {
    Requester sender = requester;
    return "%s %s, %d outstanding"
        .formatted(this, state, sender == null ? 0 : sender.outstanding());
  }

  @Override
  public String toString() {
    return "queue pair 0x%x".formatted(number);
  }

  /**
   * Stands before queue pairs of the HCA whose work requests arrive in another format than mlx5's:
   * it turns them into requests of one of the queue pairs, and completions back.
   */
  public abstract static class FrontEnd {
    /**
     * Makes whatever progress is possible; called when the first of its queue pairs runs.
     *
     * @return work done, about in work requests
     */
    public abstract int run();

    /** Source of the receives of one of its queue pairs; null without receives. */
    public abstract @Nullable ReceiveSource receives(QueuePairContext queuePair);

    /** One of its queue pairs is in error. */
    public abstract void onError();
  }
}
