package dev.doorbell.core.hca;

import dev.doorbell.core.memory.MemoryKind;

/**
 * What a completion queue is to be like.
 *
 * @param entries CQEs of the ring, a power of two
 * @param collapsed every CQE goes to entry 0 and its owner bit never changes
 * @param ignoreOverrun the HCA does not look at the consumer index
 * @param ringIn DEVICE or HOST
 * @param recordIn DEVICE or HOST
 */
public record CompletionQueueAttributes(
    int entries, boolean collapsed, boolean ignoreOverrun, MemoryKind ringIn, MemoryKind recordIn) {

  /** A ring in GPU memory that ignores overrun: what GPU-side pollers use. */
  public static CompletionQueueAttributes ring(int entries, MemoryKind where) {
    return new CompletionQueueAttributes(entries, false, true, where, where);
  }

  /** A collapsed queue. */
  public static CompletionQueueAttributes collapsed(MemoryKind where) {
    return new CompletionQueueAttributes(1, true, true, where, where);
  }
}
