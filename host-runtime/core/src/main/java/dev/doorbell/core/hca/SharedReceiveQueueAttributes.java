package dev.doorbell.core.hca;

import dev.doorbell.core.memory.MemoryKind;

/**
 * What a shared receive queue is to be like.
 *
 * @param entries receive WQEs, a power of two
 * @param segments data segments of a WQE, one less than a power of two; shorter lists end with the
 *     invalid lkey
 * @param ringIn where the ring lies: DEVICE or HOST
 * @param recordIn where the doorbell record lies: DEVICE or HOST
 */
public record SharedReceiveQueueAttributes(
    int entries, int segments, MemoryKind ringIn, MemoryKind recordIn) {

  /** Bytes of a WQE: the next segment, then the data segments. */
  public int stride() {
    return (segments + 1) * 16;
  }
}
