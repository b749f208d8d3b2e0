package dev.doorbell.core.efa.generated;

import dev.doorbell.core.memory.RawMemory;
import javax.annotation.processing.Generated;

/**
 * A completion: {@code struct efa_io_tx_cdesc} of a request and {@code efa_io_rx_cdesc_ex} of a
 * receive. Entries of one queue have one size, here that of the larger. A phase bit, 1 in the first
 * lap, says which are new; it has to be looked at before the rest.
 *
 * <p>Written by FormatsTest from src/main/formats/efa.txt.
 */
@Generated("FormatsTest")
public class CompletionFields {
  /** Bytes of the structure. */
  public static final int BYTES = 32;

  public static final int REQUEST_ID_OFFSET = 0x00;

  public static final int STATUS_OFFSET = 0x02;

  public static final int FLAGS_OFFSET = 0x03;

  public static final int NUMBER_OFFSET = 0x04;

  public static final int LENGTH_OFFSET = 0x06;

  public static final int ADDRESS_HANDLE_OFFSET = 0x08;

  public static final int SOURCE_NUMBER_OFFSET = 0x0a;

  public static final int IMMEDIATE_OFFSET = 0x0c;

  public static final int LENGTH_HIGH_OFFSET = 0x10;

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

  protected CompletionFields() {}

  /** The id of the request. */
  public static int requestId(long at) {
    return RawMemory.getShort(at) & 0xffff;
  }

  /** {@link #OK} to {@link #UNRESPONSIVE_REMOTE}. */
  public static int status(long at) {
    return RawMemory.getByte(at + 0x02) & 0xff;
  }

  /** The phase bit. */
  public static int phase(long at) {
    return RawMemory.getByte(at + 0x03) & 0x1;
  }

  /** {@link #SEND_QUEUE} or {@link #RECEIVE_QUEUE}. */
  public static int queue(long at) {
    return RawMemory.getByte(at + 0x03) >>> 1 & 0x3;
  }

  /** Returns true if the receive has immediate data. */
  public static boolean hasImmediate(long at) {
    return (RawMemory.getByte(at + 0x03) >>> 3 & 1) != 0;
  }

  /** An operation of {@code TxWqe}. */
  public static int operation(long at) {
    return RawMemory.getByte(at + 0x03) >>> 4 & 0x7;
  }

  /** The queue pair's number. */
  public static int number(long at) {
    return RawMemory.getShort(at + 0x04) & 0xffff;
  }

  /** Bytes of a receive, low 16 bits. */
  public static int lengthLow(long at) {
    return RawMemory.getShort(at + 0x06) & 0xffff;
  }

  /** The sender. */
  public static int addressHandle(long at) {
    return RawMemory.getShort(at + 0x08) & 0xffff;
  }

  /** The sender's queue pair. */
  public static int sourceNumber(long at) {
    return RawMemory.getShort(at + 0x0a) & 0xffff;
  }

  /** Immediate data. */
  public static int immediate(long at) {
    return RawMemory.getInt(at + 0x0c);
  }

  /** Bytes of a receive of an RDMA WRITE, high 16 bits. */
  public static int lengthHigh(long at) {
    return RawMemory.getShort(at + 0x10) & 0xffff;
  }

  /** Writes all 32 bytes. */
  public static void writeEntry(
      long at,
      int requestId,
      int status,
      int phase,
      int queue,
      boolean hasImmediate,
      int operation,
      int number,
      int lengthLow,
      int sourceNumber,
      int immediate,
      int lengthHigh) {
    RawMemory.putLong(
        at,
        (long) lengthLow << 48
            | (number & 0xffffL) << 32
            | (operation & 0x7L) << 28
            | (hasImmediate ? 1L << 27 : 0)
            | (queue & 0x3L) << 25
            | (phase & 0x1L) << 24
            | (status & 0xffL) << 16
            | (requestId & 0xffffL));
    RawMemory.putLong(at + 0x08, (long) immediate << 32 | (sourceNumber & 0xffffL) << 16);
    RawMemory.putLong(at + 0x10, (lengthHigh & 0xffffL));
    RawMemory.putLong(at + 0x18, 0);
  }

  /** Says what a status means. */
  public static String text(int code) {
    return switch (code) {
      case OK -> "ok";
      case FLUSHED -> "flushed during queue pair destroy";
      case INTERNAL_ERROR -> "internal error of the queue pair";
      case UNSUPPORTED_OPERATION -> "unsupported operation";
      case INVALID_ADDRESS_HANDLE -> "bad address handle";
      case INVALID_LKEY -> "lkey not registered or not of that address";
      case BAD_LENGTH -> "message too long";
      case REMOTE_BAD_ADDRESS -> "rkey not registered or not of that address";
      case REMOTE_ABORT -> "connection was reset by the remote side";
      case REMOTE_BAD_QP_NUMBER -> "bad destination queue pair number";
      case REMOTE_NOT_READY -> "no receive posted at the destination";
      case REMOTE_BAD_LENGTH -> "receive buffers too short";
      case REMOTE_BAD_STATUS -> "unexpected status of the responder";
      case UNRESPONSIVE_REMOTE -> "remote side does not respond";
      default -> "status %d".formatted(code);
    };
  }
}
