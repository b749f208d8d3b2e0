package dev.doorbell.softhca;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.Route;
import org.jspecify.annotations.Nullable;

/**
 * Packets of one queue pair in one direction on their way to the wire, in order. Payloads arrive
 * and packets are put together side by side; only the oldest may leave.
 */
final class TxQueue implements Packet.Owner {
  private final SoftQueuePair queuePair;
  private final DevicePort port;
  private final long packetNanos;
  private final @Nullable RequestRing requests;
  private @Nullable Packet head;
  private @Nullable Packet tail;

  /** The oldest packet that is not being put together yet. */
  private @Nullable Packet held;

  /** One past the newest request whose last packet has left. */
  private long left;

  /**
   * @param packetNanos what putting a packet together takes
   * @param requests that the packets belong to, or null for answers
   */
  TxQueue(
      SoftQueuePair queuePair, DevicePort port, long packetNanos, @Nullable RequestRing requests) {
    this.queuePair = queuePair;
    this.port = port;
    this.packetNanos = packetNanos;
    this.requests = requests;
  }

  boolean isEmpty() {
    return head == null;
  }

  /** True when the last packet of that request has left. */
  boolean hasLeft(long request) {
    return request < left;
  }

  @Override
  public void ready() {
    queuePair.activate();
  }

  /** Takes a packet whose headers are complete. Its payload may still be on the way. */
  void add(Packet packet) {
    if (head == null && packetNanos == 0 && packet.phase == Packet.Phase.HELD) {
      transmit(packet);
      return;
    }
    packet.owner = this;
    Packet last = tail;
    if (last == null) {
      head = packet;
    } else {
      last.next = packet;
    }
    tail = packet;
    if (held == null) {
      held = packet;
    }
    flush();
  }

  /**
   * Moves on what can move on.
   *
   * @return the packet at the head when its payload was refused, else null
   */
  @Nullable Packet flush() {
    Packet next = held;
    while (next != null && next.phase == Packet.Phase.HELD) {
      if (queuePair.hca.tracing && next.lastOfMessage && requests != null) {
        queuePair.hca.tracer.gathered(queuePair.number(), requests.at(next.request));
      }
      next.phase = Packet.Phase.FRAMING;
      if (packetNanos == 0 || port.delay(packetNanos, next)) {
        next.phase = Packet.Phase.READY;
      }
      next = next.next;
    }
    held = next;
    Packet first = head;
    while (first != null && first.phase == Packet.Phase.READY) {
      Packet following = first.next;
      first.next = null;
      transmit(first);
      first = following;
    }
    head = first;
    if (first == null) {
      tail = null;
    }
    return first != null && first.phase == Packet.Phase.FAILED ? first : null;
  }

  /** Gives back everything that has not left. */
  void drop() {
    Packet packet = head;
    head = null;
    tail = null;
    held = null;
    while (packet != null) {
      Packet following = packet.next;
      packet.next = null;
      if (packet.abandon()) {
        packet.pool.release(packet);
      }
      packet = following;
    }
  }

  private void transmit(Packet packet) {
    RequestRing ring = requests;
    if (ring != null && packet.lastOfMessage) {
      left = packet.request + 1;
      if (queuePair.hca.tracing) {
        SendRequest request = ring.at(packet.request);
        if (packet.phase == Packet.Phase.HELD) {
          queuePair.hca.tracer.gathered(queuePair.number(), request);
        }
        queuePair.hca.tracer.emitted(queuePair.number(), request);
      }
    }
    Route route = queuePair.route;
    if (queuePair.isDatagram) {
      route = packet.way;
    } else {
      packet.trafficClass = queuePair.connection.trafficClass();
    }
    if (route == null || !queuePair.hca.isLinkUp()) {
      packet.pool.release(packet);
      return;
    }
    packet.told = requests == null ? queuePair.responses.departs(0) : departs(requests, packet);
    packet.originQpn = queuePair.number();
    packet.partitionKey = queuePair.partitionKey;
    packet.owner = null;
    HcaFaults faults = queuePair.hca.faults;
    if (faults == null) {
      route.transmit(packet);
    } else {
      faults.send(packet, route, queuePair);
    }
  }

  private @Nullable Object departs(RequestRing ring, Packet packet) {
    if (packet.request == Packet.NO_REQUEST) {
      return queuePair.requests.departs(0);
    }
    long index = ring.at(packet.request).index;
    return queuePair.requests.departs(packet.lastOfMessage ? index + 1 : index);
  }
}
