package dev.doorbell.softhca.responder;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.ExecutedRequests;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.roce.Aeth;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.softhca.congestion.CreditPool;
import dev.doorbell.softhca.device.HcaFaults;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.objects.Completions;
import dev.doorbell.softhca.objects.DirectPeer;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.objects.SoftMemoryRegion;
import dev.doorbell.softhca.objects.SoftMemoryRegion.Rights;
import dev.doorbell.softhca.objects.TxQueue;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.PacketOpcode;
import dev.doorbell.softhca.packet.PortCounters;
import dev.doorbell.softhca.packet.PortCounters.Counter;
import dev.doorbell.softhca.packet.Psn;
import org.jspecify.annotations.Nullable;

/**
 * The receiving half of a reliable connection: checks the peer's requests, carries them out once
 * and in order, readAtomics.
 *
 * <p>A request is carried out when everything that it needs is at hand - a receive WQE, room for a
 * CQE, a packet for the answer - and waits without side effects until then; later ones wait behind
 * it. An ACK leaves at the end of a step and stands for all messages of the step.
 */
final class ReliableResponder extends Responder implements DirectPeer {
  private final QueuePairContext queuePair;
  private final HcaServices hca;
  private final ReceiveConsumer receives;
  private final @Nullable Placement placement;
  private final RequestChecks checks;
  private final IncomingMessage message;
  private final ReadAtomicResponder readAtomics;
  private final TxQueue tx;
  private final CreditPool.@Nullable Flow credits;

  private int expectedPsn;

  /** The number of the message that is executed next, from 0. */
  int msn;

  private boolean nakSent;
  private boolean established;

  private boolean ackPending;
  private int ackPsn;

  /**
   * @param placement of RDMA WRITEs; null where they are placed in order
   */
  ReliableResponder(
      QueuePairContext queuePair,
      HcaServices hca,
      ReceiveConsumer receives,
      @Nullable Placement placement,
      int expectedPsn) {
    this.queuePair = queuePair;
    this.hca = hca;
    this.receives = receives;
    this.placement = placement;
    this.expectedPsn = expectedPsn;
    this.tx = new TxQueue(queuePair, hca, 0);
    this.checks = new RequestChecks(queuePair, hca);
    this.message = new IncomingMessage(queuePair, hca, receives, checks);
    this.readAtomics = new ReadAtomicResponder(queuePair, hca, this, checks, tx);
    CreditPool pool = hca.credits();
    this.credits = pool == null ? null : pool.flow(queuePair.mtu());
  }

  @Override
  public void discard() {
    if (credits != null) {
      credits.close();
    }
    tx.drop();
    readAtomics.discard();
    receives.release();
    if (placement != null) {
      placement.discard();
    }
    discardWaiting();
  }

  @Override
  public ExecutedRequests executed() {
    receives.placeAll();
    return new ExecutedRequests(msn);
  }

  @Override
  public int run() {
    readAtomics.run();
    int work = runWaiting();
    readAtomics.endTurn();
    if (placement != null) {
      work += placement.run();
    }
    Packet failed = tx.flush();
    if (failed != null) {
      tx.drop();
      nak(Aeth.NAK_REMOTE_OPERATION, failed.psn, AsyncEvent.Type.QP_FATAL);
    }
    acknowledge();
    if (queuePair.state() == QueuePairState.ERR) {
      work += receives.flush();
    }
    return work;
  }

  @Override
  public boolean accepts(int psn, int mtu) {
    return placement == null
        && psn == expectedPsn
        && mtu == queuePair.mtu()
        && nothingWaits()
        && !ackPending
        && !message.isOpen()
        && !readAtomics.isBusy()
        && tx.isEmpty();
  }

  @Override
  public @Nullable SoftMemoryRegion admit(int rkey, long address, long bytes, int right) {
    return checks.check(rkey, address, bytes, right) == 0 ? checks.region : null;
  }

  @Override
  public boolean acceptsReceive(int bytes) {
    return receives.isReady() && receives.fits(bytes);
  }

  @Override
  public boolean scatter(DevicePort from, long address, int bytes, boolean mapped) {
    return receives.scatter(from, address, bytes, mapped);
  }

  @Override
  public void completeReceive(int cqeOpcode, int bytes, int immediate, boolean solicited) {
    receives.complete(cqeOpcode, bytes, immediate, solicited, Completions.CONNECTED);
  }

  @Override
  public PortCounters counters() {
    return hca.counters();
  }

  @Override
  public DevicePort port() {
    return hca.port();
  }

  @Override
  public void completeInline(int messages, int packets, int right) {
    for (int i = right == 0 ? messages : 0; i < messages; i++) {
      checks.count(right);
    }
    expectedPsn = Psn.add(expectedPsn, packets);
    msn = (msn + messages) & Psn.MASK;
    nakSent = false;
    onArrival(queuePair.state());
  }

  @Override
  public void completeRead(int psn, int packets) {
    completeInline(1, packets, Rights.REMOTE_READ);
    readAtomics.rememberRead(psn, packets);
  }

  @Override
  public void completeAtomic(int psn, long result) {
    completeInline(1, 1, Rights.REMOTE_ATOMIC);
    readAtomics.rememberAtomic(psn, result);
  }

  /** Reports the first message that arrives before RTS. */
  private void onArrival(QueuePairState state) {
    if (state == QueuePairState.RTR && !established) {
      established = true;
      hca.raise(AsyncEvent.Type.COMMUNICATION_ESTABLISHED, queuePair.number);
    }
  }

  /** Sends the ACK that is due, if a packet is to be had and no answer is before it. */
  @Override
  public void acknowledge() {
    if (!ackPending || (placement != null && !placement.mayAcknowledge(ackPsn))) {
      return;
    }
    Packet ack = hca.packets().take();
    if (ack == null) {
      return;
    }
    ackPending = false;
    address(ack, BthOpcode.ACKNOWLEDGE, ackPsn);
    if (credits != null) {
      int ahead = Psn.difference(expectedPsn, ackPsn) - 1;
      ack.syndrome = credits.acknowledge(hca.port().now(), ahead);
    }
    tx.add(ack);
  }

  /** Fills in the headers of an answer. */
  void address(Packet packet, int opcode, int psn) {
    packet.opcode = opcode;
    packet.dynamic = queuePair.isDynamic();
    packet.destination = queuePair.peerNumber();
    packet.psn = psn;
    packet.msn = msn;
    packet.syndrome = Aeth.ACK;
    packet.payload = 0;
    packet.bytes = 0;
  }

  /** Nothing has happened yet when it answers false. */
  @Override
  boolean process(Packet packet) {
    QueuePairState state = queuePair.state();
    if (state != QueuePairState.RTS && state != QueuePairState.RTR) {
      return true;
    }
    onArrival(state);
    if (readAtomics.isBusy()) {
      return false;
    }
    int ahead = Psn.difference(packet.psn, expectedPsn);
    if (ahead > 0) {
      hca.counters().add(Counter.OUT_OF_SEQUENCE);
      nakSequence();
      return true;
    }
    queuePair.responses.arrives(packet.knowledge);
    boolean hasResponse = PacketOpcode.hasResponse(packet.opcode);
    if (ahead < 0) {
      hca.counters().add(Counter.DUPLICATE_REQUEST);
      return hasResponse ? readAtomics.repeat(packet) : repeatAck();
    }
    if (hasResponse) {
      if (message.isOpen()) {
        return nak(Aeth.NAK_INVALID_REQUEST, packet.psn, AsyncEvent.Type.QP_REQUEST_ERROR);
      }
      receives.placeAll();
      return readAtomics.execute(packet);
    }
    int outcome = message.accept(packet, packet.opcode);
    switch (outcome) {
      case IncomingMessage.DONE -> advance(packet);
      case IncomingMessage.HOLD -> {
        return false;
      }
      case IncomingMessage.NOT_READY -> nakReceiverNotReady(packet.psn);
      default -> nak(outcome, packet.psn, message.event());
    }
    return true;
  }

  @Override
  void arrivesBehind(Packet first, Packet packet) {
    readAtomics.arrivesBehind(first, packet);
  }

  /** A duplicate of what was carried out: its acknowledgement was lost. */
  private boolean repeatAck() {
    ackPending = true;
    ackPsn = Psn.add(expectedPsn, -1);
    queuePair.acknowledgeLater();
    return true;
  }

  /** Something before this packet was lost: says so once. */
  private void nakSequence() {
    if (nakSent) {
      return;
    }
    nakSent = true;
    receives.placeAll();
    Packet nak = hca.packets().takeSpare();
    address(nak, BthOpcode.ACKNOWLEDGE, expectedPsn);
    nak.syndrome = Aeth.NAK_SEQUENCE;
    // The NAK acknowledges what is before it.
    ackPending = false;
    tx.add(nak);
  }

  /** A packet of a message is carried out: the next one is expected. */
  private void advance(Packet packet) {
    expectedPsn = Psn.add(packet.psn, 1);
    if (credits != null) {
      credits.onArrival(hca.port().now());
    }
    nakSent = false;
    if (!message.isOpen()) {
      msn = (msn + 1) & Psn.MASK;
    }
    if (packet.ackRequest) {
      ackPending = true;
      ackPsn = packet.psn;
      queuePair.acknowledgeLater();
    }
  }

  /** A request with a response is carried out; its answer acknowledges what is before it. */
  void responseBegins() {
    msn = (msn + 1) & Psn.MASK;
    ackPending = false;
  }

  /** A request whose answer has {@code packets} packets is carried out. */
  void expectAfterResponse(int psn, int packets) {
    expectedPsn = Psn.add(psn, packets);
    nakSent = false;
  }

  /** Asks the requester to come again later. */
  private void nakReceiverNotReady(int psn) {
    hca.counters().add(Counter.OUT_OF_BUFFER);
    receives.placeAll();
    Packet nak = hca.packets().takeSpare();
    address(nak, BthOpcode.ACKNOWLEDGE, psn);
    int timer = queuePair.connection().minRnrTimer();
    HcaFaults faults = hca.faults();
    nak.syndrome = Aeth.RNR_NAK | (faults == null ? timer : faults.rnrTimer(timer));
    nakSent = true;
    // The NAK acknowledges what is before it.
    ackPending = false;
    tx.add(nak);
  }

  /**
   * Refuses a request; the queue pair is in error afterwards.
   *
   * @param event the asynchronous event, or null when a CQE reports it
   * @return true: the request is dealt with
   */
  boolean nak(int syndrome, int psn, AsyncEvent.@Nullable Type event) {
    receives.placeAll();
    Packet nak = hca.packets().takeSpare();
    address(nak, BthOpcode.ACKNOWLEDGE, psn);
    nak.syndrome = syndrome;
    if (syndrome == Aeth.NAK_REMOTE_ACCESS) {
      hca.counters().add(Counter.RESP_REMOTE_ACCESS_ERRORS);
    }
    ackPending = false;
    tx.add(nak);
    if (event != null) {
      hca.raise(event, queuePair.number);
    }
    queuePair.enterError();
    return true;
  }
}
