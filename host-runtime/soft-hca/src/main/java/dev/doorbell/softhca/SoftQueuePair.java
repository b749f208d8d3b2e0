package dev.doorbell.softhca;

import dev.doorbell.core.fabric.DeviceUnit;
import dev.doorbell.core.fault.Fault;
import dev.doorbell.core.fault.FaultAction;
import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.ExecutedRequests;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.hca.SentRequests;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.PacketOpcode;
import dev.doorbell.softhca.packet.Psn;
import dev.doorbell.softhca.packet.Route;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A queue pair of any transport: its state machine, its memory, and its two halves. */
final class SoftQueuePair implements QueuePair {
  private static final int PSN_STEP = 0x9e_3779;
  private static final int RESET_PSN_STEP = 0x15_5555;

  final SoftHca hca;
  final SoftProtectionDomain domain;
  final SoftCompletionQueue sendCompletions;
  final @Nullable SoftCompletionQueue receiveCompletions;
  final @Nullable SoftSharedReceiveQueue sharedReceives;
  final boolean isDatagram;

  /** Its place among the queue pairs of its HCA, in the order in which they were made. */
  final int ordinal;

  /** The two halves in the fabric's order of events. */
  final DeviceUnit requests;

  final DeviceUnit responses;

  private final int transport;
  private final int number;
  private final QueuePairAttributes attributes;
  private final Uar uar;
  private final QueueMemory memory;
  private int startPsn;

  private QueuePairState state = QueuePairState.RESET;
  private WqeSource wqes;
  private @Nullable Requester requester;
  private @Nullable Responder responder;
  private boolean closed;

  // The connection.
  int rights;
  int peerNumber;
  int maxReadAtomic = 1;
  int mtu;
  int partitionKey = Packet.DEFAULT_PARTITION;

  /** Packets must come from this GID, where the wire says where they come from. */
  private long @Nullable [] peerGid;

  /** The ways of its datagrams. */
  final DatagramWays ways;

  ConnectionAttributes connection = ConnectionAttributes.DEFAULT;
  @Nullable Route route;

  // What the HCA's lists know of this queue pair.
  boolean active;
  @Nullable SoftQueuePair nextActive;
  boolean acknowledging;
  boolean starving;

  /** To ERR in the next step; until then nothing leaves and nothing is heard. */
  boolean failing;

  /** Set by the thread that rings; the HCA clears it. */
  final AtomicBoolean rung = new AtomicBoolean();

  volatile @Nullable SoftQueuePair nextRung;

  SoftQueuePair(
      SoftProtectionDomain domain,
      int number,
      QueuePairAttributes attributes,
      SoftCompletionQueue sendCompletions,
      @Nullable SoftCompletionQueue receiveCompletions,
      @Nullable SoftSharedReceiveQueue sharedReceives,
      Uar uar,
      QueueMemory memory) {
    this.domain = domain;
    this.hca = domain.softHca();
    this.ordinal = hca.nextOrdinal();
    this.number = number;
    this.requests = hca.port.unit(number, true);
    this.responses = hca.port.unit(number, false);
    this.attributes = attributes;
    this.sendCompletions = sendCompletions;
    this.receiveCompletions = receiveCompletions;
    this.sharedReceives = sharedReceives;
    this.isDatagram = attributes.transport() == Transport.UD;
    this.transport =
        switch (attributes.transport()) {
          case RC -> BthOpcode.RC;
          case UC -> BthOpcode.UC;
          case UD -> BthOpcode.UD;
        };
    this.uar = uar;
    this.memory = memory;
    this.ways = new DatagramWays(hca);
    this.startPsn = (number * PSN_STEP) & Psn.MASK;
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
    return new WqeSource(
        this,
        hca.port,
        memory.sendRing().address(),
        attributes.sendBlocks(),
        memory.record().address());
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public QueuePairAttributes attributes() {
    return attributes;
  }

  @Override
  public QueuePairState state() {
    return state;
  }

  /** Chooses the first sequence number, before anything is sent. */
  void startPsn(int psn) {
    startPsn = psn & Psn.MASK;
    if (requester != null && state == QueuePairState.RTR) {
      requester.discard();
      requester = new Requester(this, wqes, startPsn, mtu);
    }
  }

  /** The first sequence number of its packets. */
  int startPsn() {
    return startPsn;
  }

  /** What peers may do from now on. */
  void allow(Set<AccessRight> rights) {
    this.rights = Rights.bits(rights);
  }

  /** Other attributes of a connection that exists. */
  void connection(ConnectionAttributes attributes) {
    ConnectionChecks.check(attributes, hca.options);
    connection = attributes;
    partitionKey = attributes.partitionKey();
  }

  @Override
  public QueuePairAddress address() {
    return new QueuePairAddress(
        hca.wire().address(hca), number, startPsn, hca.options.engine().mtu());
  }

  @Override
  public @Nullable ExecutedRequests executed() {
    return responder == null ? null : responder.executed();
  }

  @Override
  public @Nullable SentRequests sent() {
    return requester == null ? null : requester.sent();
  }

  @Override
  public long sendRingAddress() {
    return memory.sendRing().address();
  }

  @Override
  public long receiveRingAddress() {
    Memory ring = memory.receiveRing();
    return ring == null ? 0 : ring.address();
  }

  @Override
  public long recordAddress() {
    return memory.record().address();
  }

  @Override
  public long doorbellAddress() {
    return uar.register();
  }

  @Override
  public int blueFlameBytes() {
    return hca.options.limits().blueFlameBytes();
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
    ConnectionChecks.requireConnection(this);
    ConnectionChecks.check(peer, attributes, hca.options);
    route = ConnectionChecks.wayTo(peer, this);
    peerGid = hca.wire().carriesGids() ? hca.wire().gid(peer.hca()) : null;
    peerNumber = peer.number();
    mtu = Math.min(peer.mtu(), hca.options.engine().mtu());
    Fault fault = hca.faults == null ? null : hca.faults.connecting(this);
    if (fault != null && fault.action() == FaultAction.MTU_MISMATCH) {
      mtu = fault.number();
    } else if (fault != null) {
      route = new HcaFaults.Nowhere();
    }
    ready(peer.startPsn() & Psn.MASK, attributes);
  }

  @Override
  public void toRtr(ConnectionAttributes attributes) {
    require(QueuePairState.INIT, QueuePairState.RTR, "toRtr");
    ConnectionChecks.requireDatagrams(this);
    ConnectionChecks.check(attributes, hca.options);
    mtu = hca.options.engine().mtu();
    ready(0, attributes);
  }

  private void ready(int expectedPsn, ConnectionAttributes attributes) {
    connection = attributes;
    partitionKey = attributes.partitionKey();
    Receives receives = new Receives(this, memory.receives(this));
    responder =
        transport == BthOpcode.RC
            ? new ReliableResponder(this, receives, expectedPsn, mtu)
            : new UnreliableResponder(this, receives, expectedPsn, mtu);
    requester = new Requester(this, wqes, startPsn, mtu);
    state = QueuePairState.RTR;
  }

  @Override
  public void toRts(ConnectionAttributes attributes) {
    require(QueuePairState.RTR, QueuePairState.RTS, "toRts");
    connection = attributes;
    if (requester != null) {
      requester.attributesChanged();
    }
    maxReadAtomic = Math.min(attributes.maxReadAtomic(), hca.options.limits().readAtomic());
    state = QueuePairState.RTS;
    requests.begin();
    // What was posted before could not be carried out yet.
    wqes.look();
    activateFromOutside();
  }

  @Override
  public void toError() {
    requireOpen("toError");
    if (state == QueuePairState.RESET) {
      throw StateChecks.illegal(this, QueuePairState.ERR, "toError");
    }
    enterError();
    requests.begin();
    wqes.look();
    activateFromOutside();
  }

  @Override
  public void toReset() {
    requireOpen("toReset");
    discard();
    failing = false;
    wqes = newSource();
    state = QueuePairState.RESET;
    route = null;
    // What is still under way to the connection that was must not fit into the next one.
    startPsn = (startPsn + RESET_PSN_STEP) & Psn.MASK;
    memory.record().fill(0, DoorbellRecord.BYTES, (byte) 0);
  }

  private void discard() {
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
      throw StateChecks.illegal(this, to, call);
    }
  }

  private void requireOpen(String call) {
    if (closed) {
      throw new HcaException(
          "%s: queue pair 0x%x of %s is closed".formatted(call, number, hca.name()));
    }
  }

  /** To ERR by whatever went wrong: what is outstanding is flushed. */
  void enterError() {
    if (state == QueuePairState.ERR) {
      return;
    }
    state = QueuePairState.ERR;
    if (requester != null) {
      requester.enterError();
    }
    activate();
  }

  // Data path.

  /** There may be something to do: the HCA runs the queue pair in this step or the next. */
  void activate() {
    hca.engine.activate(this);
  }

  /** As {@link #activate}, from between two steps. */
  void activateFromOutside() {
    hca.engine.activate(this);
    hca.engine.wake();
  }

  /** To ERR as if the driver had asked for it, once whoever is at work here has finished. */
  void failSoon() {
    failing = true;
    activateFromOutside();
  }

  /** To ERR as if the driver had asked for it; not if it has been reset or closed meanwhile. */
  void failFromOutside() {
    if (!closed && state != QueuePairState.RESET) {
      toError();
    }
  }

  /** Runs both halves. */
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
    requests.begin();
    if (requester != null) {
      work += requester.run(budget);
    } else {
      wqes.run();
    }
    return work;
  }

  /** A packet for this queue pair; takes it over. */
  void receive(Packet packet) {
    if (!hears(packet.partitionKey) || PacketOpcode.transport(packet.opcode) != transport) {
      packet.pool.release(packet);
    } else if (isFromStranger(packet)) {
      hca.countStranger();
      packet.pool.release(packet);
    } else if (BthOpcode.isResponse(packet.opcode)) {
      if (requester != null) {
        requests.begin();
        requests.arrives(packet.told);
        requester.receive(packet);
      }
      packet.pool.release(packet);
    } else if (responder != null) {
      responses.begin();
      responder.receive(packet);
    } else {
      packet.pool.release(packet);
    }
  }

  /** It names this queue pair and comes from another HCA than its peer's. */
  private boolean isFromStranger(Packet packet) {
    long[] peer = peerGid;
    return peer != null && (packet.sourceGidHigh != peer[0] || packet.sourceGidLow != peer[1]);
  }

  /** 15 bits agree, and one of the two is a full member (InfiniBand, chapter 10.9.3). */
  private boolean hears(int key) {
    return ((key ^ partitionKey) & 0x7fff) == 0 && ((key | partitionKey) & 0x8000) != 0;
  }

  /**
   * The responder, when it may carry out requests of queue pair {@code from} of {@code sender}
   * without packets: it is connected to that one, and answers would reach it at once.
   */
  @Nullable ReliableResponder immediateResponder(SoftHca sender, int from, int key) {
    Route back = route;
    return state == QueuePairState.RTS
            && peerNumber == from
            && hears(key)
            && back != null
            && back.immediate() == sender
            && responder instanceof ReliableResponder reliable
        ? reliable
        : null;
  }

  /** True where nobody answers. */
  boolean isUnreliable() {
    return transport != BthOpcode.RC;
  }

  /** Sends the ACK that is due. */
  void acknowledge() {
    if (responder != null) {
      responses.begin();
      responder.acknowledge();
    }
  }

  /** A hint from the doorbell register, on any thread. */
  void hint(int index) {
    wqes.ring(index);
  }

  /** A whole WQE from the BlueFlame register, on any thread. */
  void offerBlueFlame(long source, int bytes) {
    wqes.blueFlame().offer(source, bytes);
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    discard();
    state = QueuePairState.RESET;
    sendCompletions.unuse(this);
    if (receiveCompletions != null) {
      receiveCompletions.unuse(this);
    }
    hca.port.offMmio(uar.page().address());
    hca.freePage(uar.page());
    if (sharedReceives != null) {
      sharedReceives.unuse();
    }
    domain.closed(this);
    memory.close();
  }

  /** State and backlog, for reports. */
  String describe() {
    Requester sender = requester;
    return "%s %s, %d outstanding"
        .formatted(this, state, sender == null ? 0 : sender.outstanding());
  }

  @Override
  public String toString() {
    return "queue pair 0x%x".formatted(number);
  }
}
