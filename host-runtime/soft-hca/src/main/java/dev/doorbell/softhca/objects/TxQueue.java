package dev.doorbell.softhca.objects;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.softhca.device.HcaFaults;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.PortCounters.Counter;
import dev.doorbell.softhca.packet.Wire.Route;
import org.jspecify.annotations.Nullable;

/**
 * Packets of one half of a queue pair on their way to the wire, in order. Payload reads and framing
 * overlap; only the oldest packet may leave.
 */
public class TxQueue implements Packet.Owner {
  private final QueuePairContext queuePair;
  private final HcaServices hca;
  private final DevicePort port;
  private final long packetNanos;
  private final int ecn;
  private @Nullable Packet head;
  private @Nullable Packet tail;

  /** The oldest packet whose framing has not begun. */
  private @Nullable Packet held;

  /**
   * @param packetNanos framing time of a packet
   */
  public TxQueue(QueuePairContext queuePair, HcaServices hca, long packetNanos) {
    this.queuePair = queuePair;
    this.hca = hca;
    this.port = hca.port();
    this.packetNanos = packetNanos;
    this.ecn = hca.options().congestion().policy() == null ? 0 : Packet.ECN_CAPABLE;
  }

  public final boolean isEmpty() {
    return head == null;
  }

  @Override
  public final void ready() {
    queuePair.activate();
  }

  /** Takes a packet whose headers are complete. Its payload may still be on the way. */
  public final void add(Packet packet) {
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
   * Makes whatever progress is possible.
   *
   * @return the packet at the head when its payload was refused, else null
   */
  public final @Nullable Packet flush() {
    Packet next = held;
    while (next != null && next.phase == Packet.Phase.HELD) {
      onGathered(next);
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
  public final void drop() {
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

  /** The payload of a packet that waits for framing is complete. */
  protected void onGathered(Packet packet) {}

  /** A packet leaves. */
  protected void onTransmit(Packet packet) {}

  /** For fabrics that watch order: what the packet carries of what its half knows. */
  protected @Nullable Object knowledge(Packet packet) {
    return queuePair.responses.departs(0);
  }

  private void transmit(Packet packet) {
    onTransmit(packet);
    Route own = packet.datagramRoute;
    Route route = own == null ? queuePair.route() : own;
    if (own == null) {
      packet.trafficClass = queuePair.connection().trafficClass() | ecn;
    }
    if (route == null || !hca.isLinkUp()) {
      hca.counters().add(Counter.PORT_XMIT_DISCARDS);
      packet.pool.release(packet);
      return;
    }
    hca.counters().add(Counter.PORT_XMIT_PACKETS, Counter.PORT_XMIT_DATA, 1, packet.frameBytes());
    packet.knowledge = knowledge(packet);
    packet.originQpn = queuePair.number;
    packet.partitionKey = queuePair.partitionKey();
    packet.owner = null;
    HcaFaults faults = hca.faults();
    if (faults == null) {
      route.transmit(packet);
    } else {
      faults.send(packet, route, queuePair);
    }
  }
}
