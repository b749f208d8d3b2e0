package dev.doorbell.softhca;

import dev.doorbell.core.memory.Memory;
import org.jspecify.annotations.Nullable;

/**
 * The memory of a queue pair.
 *
 * @param receiveRing null for one that takes no receives, or takes them from a shared queue
 * @param receiveSegments data segments of a receive WQE
 * @param record the doorbell record
 */
record QueueMemory(
    Memory sendRing, @Nullable Memory receiveRing, int receiveSegments, Memory record) {

  /** Where its queue pair takes receive WQEs from, from the first one on; null for nowhere. */
  @Nullable ReceiveSource receives(SoftQueuePair queuePair) {
    if (queuePair.sharedReceives != null) {
      return new SharedReceives(queuePair, queuePair.sharedReceives);
    }
    return receiveRing == null
        ? null
        : new ReceiveQueue(
            queuePair,
            receiveRing.address(),
            queuePair.attributes().receiveEntries() / receiveSegments,
            receiveSegments,
            record.address());
  }

  void close() {
    sendRing.close();
    if (receiveRing != null) {
      receiveRing.close();
    }
    record.close();
  }
}
