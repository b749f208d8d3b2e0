package dev.doorbell.softhca;

import dev.doorbell.core.hca.ExecutedRequests;
import dev.doorbell.softhca.packet.Packet;
import org.jspecify.annotations.Nullable;

/** The receiving half of a queue pair. */
abstract class Responder {
  /** Requests that arrived and wait. */
  private @Nullable Packet waitingHead;

  private @Nullable Packet waitingTail;

  /** A request of the peer; the responder gives the packet back. */
  final void receive(Packet packet) {
    if (waitingHead == null && process(packet)) {
      packet.pool.release(packet);
      return;
    }
    Packet last = waitingTail;
    if (last == null) {
      waitingHead = packet;
    } else {
      last.next = packet;
    }
    waitingTail = packet;
  }

  /**
   * Carries a packet out or drops it.
   *
   * @return false when something that it needs is on its way
   */
  abstract boolean process(Packet packet);

  /**
   * Carries out what waits, until something has to wait again.
   *
   * @return packets that wait no longer
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
   * Moves on what can move on.
   *
   * @return work done, about in packets
   */
  abstract int run();

  /** Sends the ACK that is due. */
  abstract void acknowledge();

  /** How far requests were executed; null where nobody counts. */
  @Nullable ExecutedRequests executed() {
    return null;
  }

  /** What was under way is forgotten: the queue pair was reset or closed. */
  abstract void discard();
}
