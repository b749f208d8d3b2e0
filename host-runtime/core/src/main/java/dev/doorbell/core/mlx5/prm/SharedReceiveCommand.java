package dev.doorbell.core.mlx5.prm;

import dev.doorbell.core.mlx5.prm.generated.CommandHeader;
import dev.doorbell.core.mlx5.prm.generated.SharedReceiveContext;

/**
 * Writes CREATE_RMP and MODIFY_RMP: a receive queue that several queue pairs take from, whose WQEs
 * are a linked list.
 */
public final class SharedReceiveCommand {
  private static final int BYTES = 272;

  private SharedReceiveCommand() {}

  /**
   * CREATE_RMP.
   *
   * @param domain number of the protection domain
   * @param logEntries log2 of the receive WQEs
   * @param logStride log2 of the bytes of one
   * @param ring umem of the ring
   * @param record umem of the doorbell record
   */
  public static PrmBuffer create(
      int domain, int logEntries, int logStride, Umem ring, Umem record) {
    return PrmBuffer.command(BYTES, CommandHeader.CREATE_RMP)
        .put(SharedReceiveContext.STATE, SharedReceiveContext.READY)
        .put(SharedReceiveContext.PD, domain)
        .putLong(SharedReceiveContext.DBR_ADDR_OFFSET, record.offset())
        .put(SharedReceiveContext.LOG_WQ_STRIDE, logStride)
        .put(SharedReceiveContext.LOG_WQ_SIZE, logEntries)
        .put(SharedReceiveContext.DBR_UMEM_VALID, true)
        .put(SharedReceiveContext.WQ_UMEM_VALID, true)
        .put(SharedReceiveContext.DBR_UMEM_ID, record.id())
        .put(SharedReceiveContext.WQ_UMEM_ID, ring.id())
        .putLong(SharedReceiveContext.WQ_UMEM_OFFSET_OFFSET, ring.offset());
  }

  /**
   * MODIFY_RMP: the device raises one event when fewer than {@code limit} WQEs are left.
   *
   * @param limit 0 for no event
   */
  public static PrmBuffer limit(int number, int limit) {
    return PrmBuffer.command(BYTES, CommandHeader.MODIFY_RMP)
        .put(SharedReceiveContext.CURRENT_STATE, SharedReceiveContext.READY)
        .put(CommandHeader.NUMBER, number)
        .put(SharedReceiveContext.MODIFY_LWM, true)
        .put(SharedReceiveContext.STATE, SharedReceiveContext.READY)
        .put(SharedReceiveContext.LWM, limit);
  }
}
