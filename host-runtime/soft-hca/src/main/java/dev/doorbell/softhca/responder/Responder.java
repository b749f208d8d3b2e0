package dev.doorbell.softhca.responder;

import dev.doorbell.core.adapter.Promise;
import dev.doorbell.core.adapter.Promises;
import dev.doorbell.core.hca.ExecutedRequests;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.objects.ReceiveSource;
import dev.doorbell.softhca.packet.Packet;
import org.jspecify.annotations.Nullable;

/** The receiving half of a queue pair. */
public abstract class Responder {
  /**
   * Creates the receiving half of a queue pair that becomes ready to receive.
   *
   * @param source receive WQEs; null without receives
   * @param expectedPsn first packet sequence number of the peer
   */
  public static Responder create(
      QueuePairContext queuePair,
      HcaServices hca,
      @Nullable ReceiveSource source,
      int expectedPsn) {
    if (!queuePair.isReliable()) {
      ReceiveConsumer receives = new ReceiveConsumer(queuePair, hca, source, null);
      return new UnreliableResponder(queuePair, hca, receives, expectedPsn);
    }
    Promises promises = hca.options().promises();
    boolean ordered =
        promises.placement() == Promise.Placement.IN_ORDER
            && promises.posted() == Promise.Posted.IN_ORDER;
    Placement placement = ordered ? null : new Placement(queuePair, hca);
    ReceiveConsumer receives = new ReceiveConsumer(queuePair, hca, source, placement);
    return new ReliableResponder(queuePair, hca, receives, placement, expectedPsn);
  }

  /** Requests that have arrived and wait. */
  private @Nullable Packet waitingHead;

  private @Nullable Packet waitingTail;

  /** A request of the peer; the responder releases the packet. */
  public final void receive(Packet packet) {
    if (waitingHead == null && process(packet)) {
      packet.pool.release(packet);
      return;
    }
    Packet first = waitingHead;
    Packet last = waitingTail;
    if (first == null || last == null) {
      waitingHead = packet;
    } else {
      arrivesBehind(first, packet);
      last.next = packet;
    }
    waitingTail = packet;
  }

  /** A packet arrives while {@code first}, which may be carried out in part, has to wait. */
  void arrivesBehind(Packet first, Packet packet) {}

  /**
   * Carries a packet out or drops it.
   *
   * @return false when something that it needs is outstanding
   */
  abstract boolean process(Packet packet);

  /**
   * Carries out waiting packets until one has to wait again.
   *
   * @return packets carried out
   */
  final int runWaiting() {
    int work = 0;
    Packet packet = waitingHead;
    while (packet != null && process(packet)) {
      Packet next = packet.next;
      packet.next = null;
      waitingHead = next;
      if (next == null) {
        waitingTail = null;
      }
      packet.pool.release(packet);
      packet = next;
      work++;
    }
    return work;
  }

  final boolean nothingWaits() {
    return waitingHead == null;
  }

  final void discardWaiting() {
    Packet packet = waitingHead;
    waitingHead = null;
    waitingTail = null;
    while (packet != null) {
      Packet next = packet.next;
      packet.next = null;
      packet.pool.release(packet);
      packet = next;
    }
  }

  /**
   * Makes whatever progress is possible.
   *
   * @return work done, about in packets
   */
  public abstract int run();

  /** Sends the ACK that is due. */
  public abstract void acknowledge();

  /** Requests that were executed; null on unreliable transports. */
  public @Nullable ExecutedRequests executed() {
    return null;
  }

  /** Drops all state: the queue pair was reset or closed. */
  public abstract void discard();
}
