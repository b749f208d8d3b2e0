package dev.doorbell.core.hca;

import dev.doorbell.core.memory.MemoryKind;

/**
 * The attributes of a shared receive queue.
 *
 * @param entries receive WQEs, a power of two
 * @param segments data segments of a WQE, one less than a power of two; shorter lists end with the
 *     invalid lkey
 * @param ringIn where the ring lies: DEVICE or HOST
 * @param recordIn where the doorbell record lies: DEVICE or HOST
 * @param cyclic WQEs follow each other in the ring; else each names the next one
 */
public record SharedReceiveQueueAttributes(
    int entries, int segments, MemoryKind ringIn, MemoryKind recordIn, boolean cyclic) {

  /** A linked list of WQEs. */
  public SharedReceiveQueueAttributes(
      int entries, int segments, MemoryKind ringIn, MemoryKind recordIn) {
    this(entries, segments, ringIn, recordIn, false);
  }

  /** Bytes of a WQE: the next segment, then the data segments. */
  public int stride() {
    return (segments + 1) * 16;
  }
}
