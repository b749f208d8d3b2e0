package dev.doorbell.verbs.prm;

/** CREATE_CQ. Its context (CQC) begins at byte 0x10. */
public final class CompletionQueueCommand {
  private static final int OPCODE = 0x400;
  private static final int BYTES = 272;
  private static final int CONTEXT = 0x10;

  /** Bytes of the answer. */
  public static final int ANSWER_BYTES = 16;

  private CompletionQueueCommand() {}

  /**
   * Makes the command.
   *
   * @param logEntries of 64 bytes each
   * @param collapsed every CQE goes to entry 0
   * @param ignoreOverrun the device does not look at the consumer index
   * @param uarPage where the queue is armed
   * @param eventQueue tells of events
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
    return PrmBuffer.command(BYTES, OPCODE)
        .put(CONTEXT, 25, true) // dbr_umem_valid
        .put(CONTEXT, 20, collapsed) // cc
        .put(CONTEXT, 17, ignoreOverrun) // oi
        .put(CONTEXT + 0x4, 31, 0, record.id()) // dbr_umem_id
        .put(CONTEXT + 0xc, 28, 24, logEntries) // log_cq_size
        .put(CONTEXT + 0xc, 23, 0, uarPage)
        .put(CONTEXT + 0x14, 7, 0, eventQueue) // c_eqn
        .putLong(CONTEXT + 0x38, record.offset()) // dbr_addr
        .putLong(0x50, ring.offset()) // cq_umem_offset
        .put(0x58, 31, 0, ring.id()) // cq_umem_id
        .put(0x5c, 31, true); // cq_umem_valid
  }
}
