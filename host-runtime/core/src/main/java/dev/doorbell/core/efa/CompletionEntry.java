package dev.doorbell.core.efa;

import dev.doorbell.core.efa.generated.CompletionFields;

/** A completion of the Elastic Fabric Adapter. */
public final class CompletionEntry extends CompletionFields {
  private CompletionEntry() {}

  /** Returns the bytes of a receive. */
  public static int length(long at) {
    return lengthLow(at) | (operation(at) == TxWqe.RDMA_WRITE ? lengthHigh(at) << Short.SIZE : 0);
  }

  public static void writeRequest(
      long at, int requestId, int status, int operation, int number, int phase) {
    writeEntry(at, requestId, status, phase, SEND_QUEUE, false, operation, number, 0, 0, 0, 0);
  }

  public static void writeReceive(
      long at,
      int requestId,
      int status,
      int operation,
      int number,
      int phase,
      int length,
      int source,
      boolean hasImmediate,
      int immediate) {
    int high = operation == TxWqe.RDMA_WRITE ? length >>> Short.SIZE : 0;
    writeEntry(
        at,
        requestId,
        status,
        phase,
        RECEIVE_QUEUE,
        hasImmediate,
        operation,
        number,
        length,
        source,
        immediate,
        high);
  }
}
