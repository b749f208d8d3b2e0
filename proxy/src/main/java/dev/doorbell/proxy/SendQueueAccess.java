package dev.doorbell.proxy;

import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.queue.generated.QueuePairView;

/**
 * Addresses at which the CPU reaches the send side of a queue pair. All are the host's.
 *
 * @param ring send ring
 * @param blocks of the send ring, a power of two
 * @param record the send counter's word of the doorbell record
 * @param doorbell the doorbell register; BlueFlame halves start here
 * @param blueFlameBytes of one half; 0: always ring with 8 bytes
 * @param completionRing completion ring, of this queue pair alone
 * @param completionEntries of the completion ring, a power of two
 * @param collapsed every CQE goes to entry 0
 * @param completionRecord the consumer index word, where the HCA checks for overrun; else 0
 * @param flushResults READs and atomics are followed by a DUMP of their result, so that it is
 *     visible in GPU memory before a CQE in host memory says so: writes to different places are not
 *     ordered
 * @param error {@code struct doorbell_error} in which kernels learn of failures, or 0
 * @param number24 the queue pair number
 * @param index {@code doorbell_qp.number}, by which commands name the queue pair
 */
public record SendQueueAccess(
    long ring,
    int blocks,
    long record,
    long doorbell,
    int blueFlameBytes,
    long completionRing,
    int completionEntries,
    boolean collapsed,
    long completionRecord,
    boolean flushResults,
    long error,
    int number24,
    int index) {

  public SendQueueAccess {
    if (!SendQueue.isLegalSize(blocks)) {
      throw new IllegalArgumentException(
          "queue pair 0x%x: a send ring of %d blocks is not possible; use a power of two up to %d"
              .formatted(number24, blocks, SendQueue.MAX_BLOCKS));
    }
    if (completionEntries <= 0 || (completionEntries & (completionEntries - 1)) != 0) {
      throw new IllegalArgumentException(
          "queue pair 0x%x: a completion ring of %d entries is not possible; use a power of two"
              .formatted(number24, completionEntries));
    }
  }

  /**
   * The send side of {@code queuePair}.
   *
   * @param error address of the error record that kernels read, or 0
   * @param index {@code doorbell_qp.number}
   */
  public static SendQueueAccess of(QueuePair queuePair, long error, int index) {
    CompletionQueue completions = queuePair.attributes().sendQueue();
    CompletionQueueAttributes shape = completions.attributes();
    return new SendQueueAccess(
        queuePair.sendRingAddress(),
        queuePair.attributes().sendBlocks(),
        queuePair.recordAddress() + DoorbellRecord.SEND_OFFSET,
        queuePair.doorbellAddress(),
        queuePair.blueFlameBytes(),
        completions.ringAddress(),
        shape.entries(),
        shape.collapsed(),
        shape.ignoreOverrun() ? 0 : completions.recordAddress() + DoorbellRecord.CONSUMER_OFFSET,
        shape.ringIn() == MemoryKind.HOST,
        error,
        queuePair.number(),
        index);
  }

  /** The send side of the queue pair that kernels see as {@code view}. */
  public static SendQueueAccess of(QueuePair queuePair, QueuePairView view) {
    return of(queuePair, view.error(), view.index());
  }

  /** The same, rung with 8-byte doorbells only. */
  public SendQueueAccess withoutBlueFlame() {
    return new SendQueueAccess(
        ring,
        blocks,
        record,
        doorbell,
        0,
        completionRing,
        completionEntries,
        collapsed,
        completionRecord,
        flushResults,
        error,
        number24,
        index);
  }
}
