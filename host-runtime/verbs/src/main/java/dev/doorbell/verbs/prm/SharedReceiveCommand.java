package dev.doorbell.verbs.prm;

/**
 * CREATE_RMP and MODIFY_RMP: a receive queue that several queue pairs take from, whose WQEs are a
 * linked list. The context (RMPC) begins at byte 0x20, the work queue in it at 0x50.
 */
public final class SharedReceiveCommand {
  private static final int CREATE = 0x90c;
  private static final int MODIFY = 0x90d;
  private static final int BYTES = 272;
  private static final int CONTEXT = 0x20;
  private static final int QUEUE = CONTEXT + 0x30;
  private static final int READY = 1;

  /** Bytes of the answers. */
  public static final int ANSWER_BYTES = 16;

  private SharedReceiveCommand() {}

  /**
   * CREATE_RMP.
   *
   * @param domain number of the protection domain
   * @param logEntries receive WQEs
   * @param logStride bytes of one
   * @param ring umem of the ring
   * @param record umem of the doorbell record
   */
  public static PrmBuffer create(
      int domain, int logEntries, int logStride, Umem ring, Umem record) {
    return PrmBuffer.command(BYTES, CREATE)
        .put(CONTEXT, 23, 20, READY)
        .put(QUEUE + 0x8, 23, 0, domain) // pd
        .putLong(QUEUE + 0x10, record.offset()) // dbr_addr
        .put(QUEUE + 0x20, 19, 16, logStride) // log_wq_stride
        .put(QUEUE + 0x20, 4, 0, logEntries) // log_wq_sz
        .put(QUEUE + 0x24, 31, true) // dbr_umem_valid
        .put(QUEUE + 0x24, 30, true) // wq_umem_valid
        .put(QUEUE + 0x28, 31, 0, record.id()) // dbr_umem_id
        .put(QUEUE + 0x2c, 31, 0, ring.id()) // wq_umem_id
        .putLong(QUEUE + 0x30, ring.offset()); // wq_umem_offset
  }

  /**
   * MODIFY_RMP: the device tells once when fewer than {@code limit} WQEs are left.
   *
   * @param limit 0 for never
   */
  public static PrmBuffer limit(int number, int limit) {
    return PrmBuffer.command(BYTES, MODIFY)
        .put(0x8, 31, 28, READY) // rmp_state
        .put(0x8, 23, 0, number) // rmpn
        .put(0x14, 0, true) // bitmask.lwm
        .put(CONTEXT, 23, 20, READY)
        .put(QUEUE + 0x4, 15, 0, limit); // lwm
  }
}
