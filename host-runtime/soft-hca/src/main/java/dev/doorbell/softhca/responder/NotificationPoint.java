package dev.doorbell.softhca.responder;

import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.objects.TxQueue;
import dev.doorbell.softhca.packet.Packet;

/**
 * The receiver's half of congestion control: answers marked requests of a queue pair with a CNP
 * (RoCEv2 annex A17.9.3), one in an interval at most.
 */
public final class NotificationPoint {
  /** Bytes behind the BTH, all zero. */
  private static final int RESERVED_BYTES = 16;

  private final QueuePairContext queuePair;
  private final HcaServices hca;
  private final TxQueue tx;
  private final long intervalNanos;
  private long next = Long.MIN_VALUE;

  /** The notification point of a queue pair. */
  public NotificationPoint(QueuePairContext queuePair, HcaServices hca) {
    this.queuePair = queuePair;
    this.hca = hca;
    this.tx = new TxQueue(queuePair, hca, 0);
    this.intervalNanos = hca.options().congestion().notificationNanos();
  }

  /** A marked request has arrived. */
  public void onMarked() {
    long now = hca.port().now();
    if (now < next) {
      return;
    }
    next = now + intervalNanos;
    Packet packet = hca.packets().takeSpare();
    packet.opcode = BthOpcode.CONGESTION_NOTIFICATION;
    packet.destination = queuePair.peerNumber();
    packet.psn = 0;
    packet.backwardCongestion = true;
    packet.payload = packet.buffer();
    packet.bytes = RESERVED_BYTES;
    RawMemory.putLong(packet.payload, 0);
    RawMemory.putLong(packet.payload + Long.BYTES, 0);
    tx.add(packet);
  }
}
