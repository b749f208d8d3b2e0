package dev.doorbell.softhca.queuepair;

import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.objects.DirectPeer;
import dev.doorbell.softhca.objects.ExtendedReceives;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.Route;
import dev.doorbell.softhca.responder.Responder;
import org.jspecify.annotations.Nullable;

/**
 * One initiator's connection at a target: the receiving half of a reliable connection, under the
 * target's number. An error ends it and leaves the target and its other connections as they are.
 */
final class DcConnection extends ScheduledQueuePair {
  private final SoftDcTarget target;
  private final Responder responder;
  private final long connectionNumber;
  private boolean closed;

  /**
   * @param back the way to the initiator
   * @param first the packet that connects
   */
  DcConnection(HcaServices hca, SoftDcTarget target, Route back, Packet first) {
    super(
        target.engine,
        target.number,
        target.ordinal(),
        Transport.DC,
        target.domain,
        target.regions,
        target.completions,
        target.completions,
        hca.port().unit(target.number, true),
        hca.port().unit(target.number, false));
    this.target = target;
    this.userIndex = target.userIndex;
    this.connectionNumber = first.connection;
    this.connection = target.connection().withTrafficClass(first.trafficClass);
    this.rights = target.rights();
    this.mtu = first.mtu;
    this.state = QueuePairState.RTS;
    reach(back, first.sourceQueuePair);
    this.responder = Responder.create(this, hca, target.receives.source(this), first.firstPsn);
    target.completions.use();
  }

  /** The larger, the newer. */
  long number() {
    return connectionNumber;
  }

  @Override
  void receive(Packet packet) {
    responses.begin();
    responder.receive(packet);
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
  public boolean isFailing() {
    return false;
  }

  @Override
  public void failSoon() {
    enterError();
  }

  @Override
  public @Nullable ExtendedReceives extendedReceives(int sharedQueue) {
    return null;
  }

  @Override
  public @Nullable DirectPeer directPeer() {
    return null;
  }

  @Override
  public void ring(int index) {
    // Nothing is sent but answers.
  }

  @Override
  public void offerBlueFlame(long source, int bytes) {
    // Nothing is sent but answers.
  }

  /** Flushes the receive that it was filling. */
  void close() {
    closed = true;
    state = QueuePairState.ERR;
    responses.begin();
    responder.run();
    responder.discard();
    target.completions.unuse(this);
  }

  @Override
  String describe() {
    return "connection of queue pair 0x%x at %s".formatted(peerNumber(), target);
  }
}
