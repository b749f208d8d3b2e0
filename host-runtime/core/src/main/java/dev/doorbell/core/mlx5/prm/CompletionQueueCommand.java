package dev.doorbell.core.mlx5.prm;

import dev.doorbell.core.mlx5.prm.generated.CommandHeader;
import dev.doorbell.core.mlx5.prm.generated.CompletionQueueContext;

/** Writes CREATE_CQ. */
public final class CompletionQueueCommand {
  private static final int BYTES = 272;

  private CompletionQueueCommand() {}

  /**
   * CREATE_CQ.
   *
   * @param logEntries log2 of the entries, of 64 bytes each
   * @param collapsed every CQE goes to entry 0
   * @param ignoreOverrun the device ignores the consumer index
   * @param uarPage where the queue is armed
   * @param eventQueue where its events go
   * @param ring umem of the ring
   * @param record umem of the doorbell record
   */
  public static PrmBuffer create(
      int logEntries,
      boolean collapsed,
      boolean ignoreOverrun,
      int uarPage,
      int eventQueue,
      Umem ring,
      Umem record) {
    return PrmBuffer.command(BYTES, CommandHeader.CREATE_CQ)
        .put(CompletionQueueContext.DBR_UMEM_VALID, true)
        .put(CompletionQueueContext.COLLAPSED, collapsed)
        .put(CompletionQueueContext.IGNORE_OVERRUN, ignoreOverrun)
        .put(CompletionQueueContext.DBR_UMEM_ID, record.id())
        .put(CompletionQueueContext.LOG_CQ_SIZE, logEntries)
        .put(CompletionQueueContext.UAR_PAGE, uarPage)
        .put(CompletionQueueContext.C_EQN, eventQueue)
        .putLong(CompletionQueueContext.DBR_ADDR_OFFSET, record.offset())
        .putLong(CompletionQueueContext.CQ_UMEM_OFFSET_OFFSET, ring.offset())
        .put(CompletionQueueContext.CQ_UMEM_ID, ring.id())
        .put(CompletionQueueContext.CQ_UMEM_VALID, true);
  }
}
