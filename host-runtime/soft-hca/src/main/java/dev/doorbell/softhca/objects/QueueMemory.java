package dev.doorbell.softhca.objects;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.memory.Memory;
import org.jspecify.annotations.Nullable;

/**
 * The rings and the doorbell record of a queue pair.
 *
 * @param receiveRing null without receives or with a shared receive queue
 * @param receiveSegments data segments of a receive WQE
 * @param record the doorbell record
 */
public record QueueMemory(
    Memory sendRing, @Nullable Memory receiveRing, int receiveSegments, Memory record) {

  /**
   * The source of its queue pair's receive WQEs, from the first one on; null if there is none.
   *
   * @param entries data segments of the receive ring
   * @param shared the shared receive queue, which replaces the ring; or null
   */
  public @Nullable ReceiveSource receives(
      QueuePairContext queuePair,
      DevicePort port,
      int entries,
      @Nullable SoftSharedReceiveQueue shared) {
    if (shared != null) {
      return shared.source(queuePair);
    }
    return receiveRing == null
        ? null
        : new ReceiveRing(
            queuePair,
            port,
            receiveRing.address(),
            entries / receiveSegments,
            receiveSegments,
            record.address());
  }

  public void close() {
    sendRing.close();
    if (receiveRing != null) {
      receiveRing.close();
    }
    record.close();
  }
}
