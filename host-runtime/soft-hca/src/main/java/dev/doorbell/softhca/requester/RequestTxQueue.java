package dev.doorbell.softhca.requester;

import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.device.HcaTracer;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.objects.TxQueue;
import dev.doorbell.softhca.packet.Packet;
import org.jspecify.annotations.Nullable;

/** The packets of requests on their way to the wire: records which requests have left entirely. */
final class RequestTxQueue extends TxQueue {
  private final QueuePairContext queuePair;
  private final @Nullable HcaTracer tracer;
  private final RequestRing requests;

  /** One past the newest request whose last packet has left. */
  private long left;

  RequestTxQueue(QueuePairContext queuePair, HcaServices hca, RequestRing requests) {
    super(queuePair, hca, hca.options().timing().packetNanos());
    this.queuePair = queuePair;
    this.tracer = hca.tracer();
    this.requests = requests;
  }

  /** True when the last packet of that request has left. */
  boolean hasLeft(long request) {
    return request < left;
  }

  @Override
  protected void onGathered(Packet packet) {
    if (tracer != null && packet.lastOfMessage) {
      SendRequest request = requests.at(packet.request);
      tracer.gathered(queuePair.number, request.index, request.length);
    }
  }

  @Override
  protected void onTransmit(Packet packet) {
    if (!packet.lastOfMessage) {
      return;
    }
    left = packet.request + 1;
    if (tracer != null) {
      if (packet.phase == Packet.Phase.HELD) {
        onGathered(packet);
      }
      SendRequest request = requests.at(packet.request);
      tracer.emitted(
          queuePair.number, request.index, request.opcode, request.length, request.packets);
    }
  }

  @Override
  protected @Nullable Object knowledge(Packet packet) {
    if (packet.request == Packet.NO_REQUEST) {
      return queuePair.requests.departs(0);
    }
    long index = requests.at(packet.request).index;
    return queuePair.requests.departs(packet.lastOfMessage ? index + 1 : index);
  }
}
