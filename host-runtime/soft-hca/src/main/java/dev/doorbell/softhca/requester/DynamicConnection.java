package dev.doorbell.softhca.requester;

import dev.doorbell.core.roce.Gid;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.Route;
import org.jspecify.annotations.Nullable;

/**
 * The connection of an initiator to the target of its present requests. There is one at a time: a
 * request for another target waits until those before it are complete, and then connects. Sequence
 * numbers go on, so that responses of an earlier target fit nothing.
 */
final class DynamicConnection {
  private final QueuePairContext queuePair;
  private final HcaServices hca;

  private int target;
  private long accessKey;
  private long gidHigh;
  private long gidLow;
  private @Nullable Route route;
  private int firstPsn;

  /** 0 before the first one. */
  private long connection;

  DynamicConnection(QueuePairContext queuePair, HcaServices hca) {
    this.queuePair = queuePair;
    this.hca = hca;
  }

  /** True where the connection is to the request's target. */
  boolean leadsTo(SendRequest request) {
    return connection != 0
        && target == request.destination
        && accessKey == request.accessKey
        && gidHigh == request.gidHigh
        && gidLow == request.gidLow;
  }

  /**
   * Connects to the request's target. Nothing is sent for it: the requests that follow do it.
   *
   * @param psn of the next packet
   */
  void connect(SendRequest request, int psn) {
    target = request.destination;
    accessKey = request.accessKey;
    gidHigh = request.gidHigh;
    gidLow = request.gidLow;
    route = request.route;
    firstPsn = psn;
    connection = hca.nextConnection();
    queuePair.reach(route, target);
  }

  /** Fills in what packets of requests carry of their connection. */
  void stamp(SendRequest request, Packet packet) {
    packet.dynamic = true;
    packet.datagramRoute = route;
    packet.trafficClass = request.trafficClass;
    packet.flowLabel = request.flowLabel;
    packet.hopLimit = request.hopLimit;
    Gid source = hca.sourceGid(request.gidIndex);
    packet.sourceGidHigh = source.high();
    packet.sourceGidLow = source.low();
    packet.destinationGidHigh = gidHigh;
    packet.destinationGidLow = gidLow;
    packet.accessKey = accessKey;
    packet.sourceQueuePair = queuePair.number;
    packet.mtu = queuePair.mtu();
    packet.firstPsn = firstPsn;
    packet.connection = connection;
  }
}
