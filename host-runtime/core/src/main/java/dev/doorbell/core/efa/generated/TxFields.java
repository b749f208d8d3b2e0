package dev.doorbell.core.efa.generated;

import dev.doorbell.core.memory.RawMemory;
import javax.annotation.processing.Generated;

/**
 * A work request of a send queue: {@code struct efa_io_tx_wqe_128}, and its shorter form {@code
 * efa_io_tx_wqe}. The send queue lies in memory of the adapter; a phase bit, which changes with
 * every lap, says which entries are new. {@code length} counts the bytes of an inline message, else
 * local buffers. SEND: two local buffers at 32 and 48, or inline bytes at 32 (32, or 80 in the
 * 128-byte form). RDMA: remote memory at 32, and at 48 a local buffer or up to 80 inline bytes of
 * an RDMA WRITE (128-byte form).
 *
 * <p>Written by FormatsTest from src/main/formats/efa.txt.
 */
@Generated("FormatsTest")
public class TxFields {
  /** Bytes of the structure. */
  public static final int BYTES = 128;

  public static final int REQUEST_ID_OFFSET = 0x00;

  public static final int CTRL1_OFFSET = 0x02;

  public static final int CTRL2_OFFSET = 0x03;

  public static final int DESTINATION_OFFSET = 0x04;

  public static final int LENGTH_OFFSET = 0x06;

  public static final int IMMEDIATE_OFFSET = 0x08;

  public static final int ADDRESS_HANDLE_OFFSET = 0x0c;

  public static final int QUEUE_KEY_OFFSET = 0x10;

  /** Bytes of the short form ({@code EFA_IO_TX_DESC_SIZE_64}). */
  public static final int SHORT_BYTES = 64;

  /** Most inline bytes ({@code EFA_IO_TX_DESC_INLINE_MAX_SIZE_128}). */
  public static final int MAX_INLINE = 80;

  /**
   * Most inline bytes of the short form, for SENDs alone ({@code EFA_IO_TX_DESC_INLINE_MAX_SIZE}).
   */
  public static final int SHORT_MAX_INLINE = 32;

  /** {@code enum efa_io_send_op_type}. */
  public static final int SEND = 0;

  public static final int RDMA_READ = 1;

  public static final int RDMA_WRITE = 2;

  /** The bits of a key that a local buffer has ({@code EFA_IO_TX_BUF_DESC_LKEY_MASK}). */
  public static final int LKEY_MASK = 0xff_ffff;

  /** {@code data}: remote memory of RDMA, buffers or inline bytes of a SEND. */
  public static final int DATA_OFFSET = 32;

  /** The local buffer of RDMA, or its inline bytes. */
  public static final int LOCAL_OFFSET = 48;

  protected TxFields() {}

  /** The id that its completion names. */
  public static int requestId(long at) {
    return RawMemory.getShort(at) & 0xffff;
  }

  /** {@link #SEND}, {@link #RDMA_READ} or {@link #RDMA_WRITE}. */
  public static int operation(long at) {
    return RawMemory.getByte(at + 0x02) & 0xf;
  }

  /** Returns true if immediate data are sent. */
  public static boolean hasImmediate(long at) {
    return (RawMemory.getByte(at + 0x02) >>> 4 & 1) != 0;
  }

  /** Returns true if the payload is in the WQE. */
  public static boolean isInline(long at) {
    return (RawMemory.getByte(at + 0x02) >>> 5 & 1) != 0;
  }

  /** A bit that every WQE has. */
  public static boolean hasMeta(long at) {
    return (RawMemory.getByte(at + 0x02) >>> 7 & 1) != 0;
  }

  /** The phase bit: 0 or 1. */
  public static int phase(long at) {
    return RawMemory.getByte(at + 0x03) & 0x1;
  }

  /** A bit that every WQE has. */
  public static boolean isFirst(long at) {
    return (RawMemory.getByte(at + 0x03) >>> 2 & 1) != 0;
  }

  /** A bit that every WQE has. */
  public static boolean isLast(long at) {
    return (RawMemory.getByte(at + 0x03) >>> 3 & 1) != 0;
  }

  /** Returns true if a completion is requested. */
  public static boolean wantsCompletion(long at) {
    return (RawMemory.getByte(at + 0x03) >>> 4 & 1) != 0;
  }

  /** The peer's queue pair. */
  public static int destination(long at) {
    return RawMemory.getShort(at + 0x04) & 0xffff;
  }

  /** Inline bytes, or local buffers. */
  public static int length(long at) {
    return RawMemory.getShort(at + 0x06) & 0xffff;
  }

  /** Immediate data. */
  public static int immediate(long at) {
    return RawMemory.getInt(at + 0x08);
  }

  /** The peer. */
  public static int addressHandle(long at) {
    return RawMemory.getShort(at + 0x0c) & 0xffff;
  }

  /** The Q_Key of the peer's queue pair. */
  public static int queueKey(long at) {
    return RawMemory.getInt(at + 0x10);
  }

  /** Bytes of an RDMA request. */
  public static int remoteLength(long at) {
    return RawMemory.getInt(at + 0x20);
  }

  /** The rkey. */
  public static int remoteKey(long at) {
    return RawMemory.getInt(at + 0x24);
  }

  /** The remote address. */
  public static long remoteAddress(long at) {
    return RawMemory.getLong(at + 0x28);
  }

  /** Writes the metadata of a request that asks for a completion; everything behind it is zero. */
  public static void writeMeta(
      long at,
      int requestId,
      int operation,
      boolean inline,
      int length,
      int phase,
      int destination,
      int addressHandle,
      int queueKey) {
    RawMemory.putLong(
        at,
        (long) length << 48
            | (destination & 0xffffL) << 32
            | (long) 1 << 28
            | (long) 1 << 27
            | (long) 1 << 26
            | (phase & 0x1L) << 24
            | (long) 1 << 23
            | (inline ? 1L << 21 : 0)
            | (operation & 0xfL) << 16
            | (requestId & 0xffffL));
    RawMemory.putLong(at + 0x08, (addressHandle & 0xffffL) << 32);
    RawMemory.putLong(at + 0x10, (queueKey & 0xffffffffL));
    RawMemory.putLong(at + 0x18, 0);
    RawMemory.putLong(at + 0x20, 0);
    RawMemory.putLong(at + 0x28, 0);
    RawMemory.putLong(at + 0x30, 0);
    RawMemory.putLong(at + 0x38, 0);
    RawMemory.putLong(at + 0x40, 0);
    RawMemory.putLong(at + 0x48, 0);
    RawMemory.putLong(at + 0x50, 0);
    RawMemory.putLong(at + 0x58, 0);
    RawMemory.putLong(at + 0x60, 0);
    RawMemory.putLong(at + 0x68, 0);
    RawMemory.putLong(at + 0x70, 0);
    RawMemory.putLong(at + 0x78, 0);
  }

  /** Writes the remote memory of RDMA. */
  public static void putRemote(long at, int remoteLength, int remoteKey, long remoteAddress) {
    RawMemory.putInt(at + 0x20, remoteLength);
    RawMemory.putInt(at + 0x24, remoteKey);
    RawMemory.putLong(at + 0x28, remoteAddress);
  }
}
