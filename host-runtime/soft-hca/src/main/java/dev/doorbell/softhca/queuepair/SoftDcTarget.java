package dev.doorbell.softhca.queuepair;

import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.DcTarget;
import dev.doorbell.core.hca.DcTargetAttributes;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.roce.Aeth;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.objects.ObjectOwner;
import dev.doorbell.softhca.objects.ObjectOwner.Owned;
import dev.doorbell.softhca.objects.SoftCompletionQueue;
import dev.doorbell.softhca.objects.SoftMemoryRegion.Rights;
import dev.doorbell.softhca.objects.SoftSharedReceiveQueue;
import dev.doorbell.softhca.objects.TxQueue;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.Wire.Route;
import dev.doorbell.softhca.queuepair.HcaEngine.ScheduledQueuePair;
import dev.doorbell.softhca.responder.Responder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A target of dynamic connections: checks the access key and hands requests to the connection of
 * their initiator, which the first of them makes.
 *
 * <p>A connection ends when its initiator makes a newer one, or when there are too many: then the
 * one that was used least recently goes. It stays until then, so that late duplicates are known as
 * what they are.
 */
public final class SoftDcTarget extends ScheduledQueuePair implements DcTarget, Owned {
  /** Initiator of connections: a GID and a queue pair. */
  private record Initiator(long gidHigh, long gidLow, int number) {}

  private final HcaObjects objects;
  private final HcaServices hca;
  private final DcTargetAttributes attributes;
  final SoftCompletionQueue completions;
  final SoftSharedReceiveQueue receives;
  private final int mostConnections;

  /** The one used last at the end. */
  private final Map<Initiator, DcConnection> connections = new LinkedHashMap<>(16, 0.75f, true);

  private long keyViolations;
  private boolean draining;
  private boolean closed;

  public SoftDcTarget(
      HcaObjects objects,
      ObjectOwner domain,
      int number,
      DcTargetAttributes attributes,
      SoftCompletionQueue completions,
      SoftSharedReceiveQueue receives) {
    super(objects, number, objects.nextOrdinal(), Transport.DC, domain, completions, completions);
    this.objects = objects;
    this.hca = objects.hca;
    this.attributes = attributes;
    this.completions = completions;
    this.receives = receives;
    this.mostConnections = hca.options().limits().queuePairs();
    ConnectionAttributes usual = ConnectionAttributes.DEFAULT;
    this.connection =
        new ConnectionAttributes(
            0,
            0,
            0,
            attributes.minRnrTimer(),
            usual.maxReadAtomic(),
            hca.options().limits().readAtomic(),
            0);
    this.rights = Rights.bits(attributes.rights());
    this.mtu = Math.min(attributes.mtu(), hca.options().engine().mtu());
    this.state = QueuePairState.RTR;
    completions.use();
    receives.use();
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public DcTargetAttributes attributes() {
    return attributes;
  }

  @Override
  public long keyViolations() {
    return keyViolations;
  }

  @Override
  public boolean isDraining() {
    return draining;
  }

  @Override
  public void drain() {
    draining = true;
  }

  @Override
  void receive(Packet packet) {
    if (closed || !packet.isDynamicRequest() || !acceptsPartition(packet.partitionKey)) {
      packet.pool.release(packet);
      return;
    }
    Initiator from =
        new Initiator(packet.sourceGidHigh, packet.sourceGidLow, packet.sourceQueuePair);
    DcConnection present = connections.get(from);
    Route back =
        present == null
            ? hca.wire().route(hca, packet.sourceGidHigh, packet.sourceGidLow)
            : present.route();
    if (back == null) {
      packet.pool.release(packet);
    } else if (!back.accepts(packet, packet.sourceQueuePair)) {
      hca.countStranger();
      packet.pool.release(packet);
    } else if (packet.accessKey != attributes.accessKey()) {
      keyViolations++;
      refuse(packet, back, Aeth.NAK_REMOTE_ACCESS);
    } else {
      receive(packet, from, present, back);
    }
  }

  private void receive(Packet packet, Initiator from, @Nullable DcConnection newest, Route back) {
    DcConnection present = newest;
    if (present == null || present.connectionNumber < packet.connection) {
      if (draining || !SoftHcaOptions.Engine.isMtu(packet.mtu) || packet.mtu > mtu) {
        refuse(packet, back, Aeth.NAK_INVALID_REQUEST);
        return;
      }
      if (present != null) {
        present.close();
      } else if (connections.size() == mostConnections) {
        Initiator oldest = connections.keySet().iterator().next();
        DcConnection ended = connections.remove(oldest);
        if (ended != null) {
          ended.close();
        }
      }
      present = new DcConnection(back, packet);
      connections.put(from, present);
    }
    if (present.connectionNumber == packet.connection) {
      present.receive(packet);
    } else {
      // Of a connection that has ended.
      packet.pool.release(packet);
    }
  }

  /** Answers that nothing of the packet's connection is carried out. */
  private void refuse(Packet packet, Route back, int syndrome) {
    Packet nak = hca.packets().takeSpare();
    nak.opcode = BthOpcode.ACKNOWLEDGE;
    nak.dynamic = true;
    nak.destination = packet.sourceQueuePair;
    nak.psn = packet.firstPsn;
    nak.msn = 0;
    nak.syndrome = syndrome;
    nak.trafficClass = packet.trafficClass;
    nak.payload = 0;
    nak.bytes = 0;
    nak.datagramRoute = back;
    packet.pool.release(packet);
    new TxQueue(this, hca, 0).add(nak);
  }

  @Override
  int run(int budget) {
    return 0;
  }

  @Override
  void acknowledge() {
    // Its connections do.
  }

  @Override
  public void enterError() {
    close();
  }

  @Override
  public void failFromOutside() {
    close();
  }

  /** A fault plan ends its connections: initiators that go on connect anew. */
  @Override
  public void failSoon() {
    endConnections();
  }

  private void endConnections() {
    for (DcConnection each : new ArrayList<>(connections.values())) {
      each.close();
    }
    connections.clear();
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    endConnections();
    state = QueuePairState.RESET;
    completions.unuse(this);
    receives.unuse();
    domain.closing(this);
  }

  @Override
  String describe() {
    return "%s, %d connections".formatted(this, connections.size());
  }

  @Override
  public String toString() {
    return "DC target 0x%x".formatted(number);
  }

  /**
   * One initiator's connection at a target: the receiving half of a reliable connection, under the
   * target's number. An error ends it and leaves the target and its other connections as they are.
   */
  final class DcConnection extends ScheduledQueuePair {
    private final Responder responder;
    private final long connectionNumber;
    private boolean closed;

    /**
     * @param back the way to the initiator
     * @param first the packet that connects
     */
    DcConnection(Route back, Packet first) {
      super(
          objects,
          SoftDcTarget.this.number,
          SoftDcTarget.this.ordinal(),
          Transport.DC,
          SoftDcTarget.this.domain,
          completions,
          completions);
      this.userIndex = SoftDcTarget.this.userIndex;
      this.connectionNumber = first.connection;
      this.connection = SoftDcTarget.this.connection().withTrafficClass(first.trafficClass);
      this.rights = SoftDcTarget.this.rights();
      this.mtu = first.mtu;
      this.state = QueuePairState.RTS;
      reach(back, first.sourceQueuePair);
      this.responder = Responder.create(this, hca, receives.source(this), first.firstPsn);
      completions.use();
    }

    @Override
    void receive(Packet packet) {
      responses.begin();
      responder.receive(packet);
      if (hca.packets().isStarved()) {
        // The engine knows the target alone, which has nothing to do when packets come back.
        activate();
      }
    }

    @Override
    int run(int budget) {
      if (closed) {
        return 0;
      }
      responses.begin();
      return responder.run();
    }

    @Override
    void acknowledge() {
      if (!closed) {
        responses.begin();
        responder.acknowledge();
      }
    }

    @Override
    public void enterError() {
      state = QueuePairState.ERR;
      activate();
    }

    @Override
    public void failFromOutside() {
      enterError();
    }

    @Override
    public void failSoon() {
      enterError();
    }

    /** Flushes the receive that it was filling. */
    void close() {
      closed = true;
      state = QueuePairState.ERR;
      responses.begin();
      responder.run();
      responder.discard();
      completions.unuse(this);
    }

    @Override
    String describe() {
      return "connection of queue pair 0x%x at %s".formatted(peerNumber(), SoftDcTarget.this);
    }
  }
}
