package dev.doorbell.core.efa;

import dev.doorbell.core.memory.RawMemory;

/**
 * A completion: {@code struct efa_io_tx_cdesc} of a request and {@code efa_io_rx_cdesc_ex} of a
 * receive (rdma-core providers/efa/efa_io_defs.h). Entries of one queue have one size, here that of
 * the larger. A phase bit, 1 in the first lap, says which are new; it has to be looked at before
 * the rest.
 *
 * <pre>
 *   31            24 23            16 15                            0
 *  +--+---------+-+-----+-+----------+--------------------------------+
 *  |     flags      |     status     |            req_id              |  0
 *  +----------------+----------------+--------------------------------+
 *  |   rx: length (low 16 bits)      |            qp_num              |  4
 *  |   tx: req_id_ex                 |                                |
 *  +---------------------------------+--------------------------------+
 *  |   rx: src_qp_num                |   rx: ah     tx: req_id_ex     |  8
 *  +---------------------------------+--------------------------------+
 *  |   rx: imm                            tx: 0                       | 12
 *  +---------------------------------+--------------------------------+
 *  |                                 | rx, RDMA WRITE: length_hi      | 16
 *  +---------------------------------+--------------------------------+
 *
 *  flags   7 unsolicited | 6:4 op_type | 3 has_imm | 2:1 q_type | 0 phase
 * </pre>
 */
public final class CompletionEntry {
  /** Bytes of {@code efa_io_rx_cdesc_ex}, of which 32 hold a source address. */
  public static final int BYTES = 32;

  /** Bytes of {@code efa_io_tx_cdesc}. */
  public static final int TX_BYTES = 16;

  /** {@code enum efa_io_queue_type}. */
  public static final int SEND_QUEUE = 1;

  public static final int RECEIVE_QUEUE = 2;

  /** {@code enum efa_io_comp_status}: those that the software HCA reports. */
  public static final int OK = 0;

  public static final int FLUSHED = 1;
  public static final int INTERNAL_ERROR = 2;
  public static final int UNSUPPORTED_OPERATION = 3;
  public static final int INVALID_ADDRESS_HANDLE = 4;
  public static final int INVALID_LKEY = 5;
  public static final int BAD_LENGTH = 6;
  public static final int REMOTE_BAD_ADDRESS = 7;
  public static final int REMOTE_ABORT = 8;
  public static final int REMOTE_BAD_QP_NUMBER = 9;
  public static final int REMOTE_NOT_READY = 10;
  public static final int REMOTE_BAD_LENGTH = 11;
  public static final int REMOTE_BAD_STATUS = 12;
  public static final int UNRESPONSIVE_REMOTE = 13;

  public static final int REQUEST_ID_OFFSET = 0;
  public static final int STATUS_OFFSET = 2;
  public static final int FLAGS_OFFSET = 3;
  public static final int NUMBER_OFFSET = 4;
  public static final int LENGTH_OFFSET = 6;
  public static final int ADDRESS_HANDLE_OFFSET = 8;
  public static final int SOURCE_NUMBER_OFFSET = 10;
  public static final int IMMEDIATE_OFFSET = 12;
  public static final int LENGTH_HIGH_OFFSET = 16;

  private static final int PHASE = 1;
  private static final int QUEUE_SHIFT = 1;
  private static final int HAS_IMMEDIATE = 1 << 3;
  private static final int OPERATION_SHIFT = 4;
  private static final int SHORT_MASK = 0xffff;
  private static final String[] STATUS = {
    "ok",
    "flushed during queue pair destroy",
    "internal error of the queue pair",
    "unsupported operation",
    "bad address handle",
    "lkey not registered or not of that address",
    "message too long",
    "rkey not registered or not of that address",
    "connection was reset by the remote side",
    "bad destination queue pair number",
    "no receive posted at the destination",
    "receive buffers too short",
    "unexpected status of the responder",
    "remote side does not respond"
  };

  private CompletionEntry() {}

  public static int requestId(long at) {
    return RawMemory.getShort(at + REQUEST_ID_OFFSET) & SHORT_MASK;
  }

  public static int status(long at) {
    return RawMemory.getByte(at + STATUS_OFFSET) & 0xff;
  }

  /** What a status says. */
  public static String text(int status) {
    return status < STATUS.length ? STATUS[status] : "status " + status;
  }

  public static int phase(long at) {
    return RawMemory.getByte(at + FLAGS_OFFSET) & PHASE;
  }

  /** {@link #SEND_QUEUE} or {@link #RECEIVE_QUEUE}. */
  public static int queue(long at) {
    return RawMemory.getByte(at + FLAGS_OFFSET) >>> QUEUE_SHIFT & 3;
  }

  public static boolean hasImmediate(long at) {
    return (RawMemory.getByte(at + FLAGS_OFFSET) & HAS_IMMEDIATE) != 0;
  }

  /** An operation of {@link TxWqe}. */
  public static int operation(long at) {
    return RawMemory.getByte(at + FLAGS_OFFSET) >>> OPERATION_SHIFT & 7;
  }

  public static int number(long at) {
    return RawMemory.getShort(at + NUMBER_OFFSET) & SHORT_MASK;
  }

  /** Bytes of a receive. */
  public static int length(long at) {
    int low = RawMemory.getShort(at + LENGTH_OFFSET) & SHORT_MASK;
    return operation(at) == TxWqe.RDMA_WRITE
        ? low | ((RawMemory.getShort(at + LENGTH_HIGH_OFFSET) & SHORT_MASK) << Short.SIZE)
        : low;
  }

  public static int sourceNumber(long at) {
    return RawMemory.getShort(at + SOURCE_NUMBER_OFFSET) & SHORT_MASK;
  }

  public static int immediate(long at) {
    return RawMemory.getInt(at + IMMEDIATE_OFFSET);
  }

  /** Writes a request's completion. */
  public static void writeRequest(
      long at, int requestId, int status, int operation, int number, int phase) {
    common(at, requestId, status, SEND_QUEUE, operation, false, number, phase);
  }

  /** Writes a receive's completion. */
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
    common(at, requestId, status, RECEIVE_QUEUE, operation, hasImmediate, number, phase);
    RawMemory.putShort(at + LENGTH_OFFSET, (short) length);
    RawMemory.putShort(at + SOURCE_NUMBER_OFFSET, (short) source);
    RawMemory.putInt(at + IMMEDIATE_OFFSET, immediate);
    if (operation == TxWqe.RDMA_WRITE) {
      RawMemory.putShort(at + LENGTH_HIGH_OFFSET, (short) (length >>> Short.SIZE));
    }
  }

  private static void common(
      long at,
      int requestId,
      int status,
      int queue,
      int operation,
      boolean hasImmediate,
      int number,
      int phase) {
    RawMemory.fill(at, BYTES, (byte) 0);
    RawMemory.putShort(at + REQUEST_ID_OFFSET, (short) requestId);
    RawMemory.putByte(at + STATUS_OFFSET, (byte) status);
    RawMemory.putByte(
        at + FLAGS_OFFSET,
        (byte)
            ((phase & PHASE)
                | queue << QUEUE_SHIFT
                | (hasImmediate ? HAS_IMMEDIATE : 0)
                | operation << OPERATION_SHIFT));
    RawMemory.putShort(at + NUMBER_OFFSET, (short) number);
  }
}
