package dev.doorbell.core.efa;

import dev.doorbell.core.memory.RawMemory;

/**
 * A work request of a send queue: {@code struct efa_io_tx_wqe_128}, and its shorter form {@code
 * efa_io_tx_wqe} (rdma-core providers/efa/efa_io_defs.h). The send queue lies in memory of the
 * adapter; a phase bit, which changes with every lap, says which entries are new.
 *
 * <pre>
 *   31            24 23            16 15                            0
 *  +--------+-------+-+-+-+-+--------+--------------------------------+
 *  |      ctrl2     |    ctrl1       |            req_id              |  0
 *  +----------------+----------------+--------------------------------+
 *  |            length               |          dest_qp_num           |  4
 *  +---------------------------------+--------------------------------+
 *  |                         immediate_data                           |  8
 *  +----------------+----------------+--------------------------------+
 *  |    reserved    |     ctrl3      |              ah                | 12
 *  +----------------+----------------+--------------------------------+
 *  |                              qkey                                | 16
 *  +------------------------------------------------------------------+
 *  |                      reserved2 (6 bytes)                         | 20
 *  |                      req_id_ex (6 bytes)                         | 26
 *  +------------------------------------------------------------------+
 *  |      RDMA: remote length | rkey | remote address (8 bytes)       | 32
 *  +------------------------------------------------------------------+
 *  |      RDMA: local length  | lkey | local address (8 bytes)        | 48
 *  |      or up to 80 inline bytes of an RDMA WRITE (128-byte form)   |
 *  +------------------------------------------------------------------+
 *
 *  SEND: two local buffers at 32 and 48, or inline bytes at 32 (32, or 80 in the 128-byte form).
 *
 *  ctrl1   7 meta_desc=1 | 6 extension=0 | 5 inline_msg | 4 has_imm | 3:0 op_type
 *  ctrl2   7:5 0 | 4 comp_req | 3 last=1 | 2 first=1 | 1 0 | 0 phase
 *  length  of inline_msg: bytes; else how many local buffers
 * </pre>
 */
public final class TxWqe {
  /** Bytes of the form with inline RDMA WRITEs ({@code EFA_IO_TX_DESC_SIZE_128}). */
  public static final int BYTES = 128;

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

  public static final int REQUEST_ID_OFFSET = 0;
  public static final int CTRL1_OFFSET = 2;
  public static final int CTRL2_OFFSET = 3;
  public static final int DESTINATION_OFFSET = 4;
  public static final int LENGTH_OFFSET = 6;
  public static final int IMMEDIATE_OFFSET = 8;
  public static final int ADDRESS_HANDLE_OFFSET = 12;
  public static final int QUEUE_KEY_OFFSET = 16;

  /** {@code data}: remote memory of RDMA, buffers or inline bytes of a SEND. */
  public static final int DATA_OFFSET = 32;

  /** The local buffer of RDMA, or its inline bytes. */
  public static final int LOCAL_OFFSET = 48;

  private static final int BUFFER_BYTES = 16;
  private static final int OP_MASK = 0x0f;
  private static final int HAS_IMMEDIATE = 1 << 4;
  private static final int INLINE = 1 << 5;
  private static final int META = 1 << 7;
  private static final int PHASE = 1;
  private static final int FIRST = 1 << 2;
  private static final int LAST = 1 << 3;
  private static final int COMPLETION = 1 << 4;
  private static final int SHORT_MASK = 0xffff;

  private TxWqe() {}

  /** The id that its completion names. */
  public static int requestId(long address) {
    return RawMemory.getShort(address + REQUEST_ID_OFFSET) & SHORT_MASK;
  }

  /** {@link #SEND}, {@link #RDMA_READ} or {@link #RDMA_WRITE}. */
  public static int operation(long address) {
    return RawMemory.getByte(address + CTRL1_OFFSET) & OP_MASK;
  }

  public static boolean hasImmediate(long address) {
    return (RawMemory.getByte(address + CTRL1_OFFSET) & HAS_IMMEDIATE) != 0;
  }

  public static boolean isInline(long address) {
    return (RawMemory.getByte(address + CTRL1_OFFSET) & INLINE) != 0;
  }

  /** The phase bit: 0 or 1. */
  public static int phase(long address) {
    return RawMemory.getByte(address + CTRL2_OFFSET) & PHASE;
  }

  /** Whether the bits are set that every WQE has. */
  public static boolean isWhole(long address) {
    int ctrl2 = RawMemory.getByte(address + CTRL2_OFFSET);
    return (RawMemory.getByte(address + CTRL1_OFFSET) & META) != 0
        && (ctrl2 & (FIRST | LAST)) == (FIRST | LAST);
  }

  public static boolean wantsCompletion(long address) {
    return (RawMemory.getByte(address + CTRL2_OFFSET) & COMPLETION) != 0;
  }

  public static int destination(long address) {
    return RawMemory.getShort(address + DESTINATION_OFFSET) & SHORT_MASK;
  }

  /** Inline bytes, or local buffers. */
  public static int length(long address) {
    return RawMemory.getShort(address + LENGTH_OFFSET) & SHORT_MASK;
  }

  public static int immediate(long address) {
    return RawMemory.getInt(address + IMMEDIATE_OFFSET);
  }

  public static int addressHandle(long address) {
    return RawMemory.getShort(address + ADDRESS_HANDLE_OFFSET) & SHORT_MASK;
  }

  public static int queueKey(long address) {
    return RawMemory.getInt(address + QUEUE_KEY_OFFSET);
  }

  /** Bytes of an RDMA request. */
  public static int remoteLength(long address) {
    return RawMemory.getInt(address + DATA_OFFSET);
  }

  public static int remoteKey(long address) {
    return RawMemory.getInt(address + DATA_OFFSET + 4);
  }

  public static long remoteAddress(long address) {
    return RawMemory.getLong(address + DATA_OFFSET + 8);
  }

  /** Address of local buffer {@code number}. */
  public static long buffer(long address, int number) {
    return address
        + (operation(address) == SEND ? DATA_OFFSET : LOCAL_OFFSET)
        + (long) number * BUFFER_BYTES;
  }

  public static int bufferLength(long buffer) {
    return RawMemory.getInt(buffer);
  }

  public static int bufferKey(long buffer) {
    return RawMemory.getInt(buffer + 4) & LKEY_MASK;
  }

  public static long bufferAddress(long buffer) {
    return RawMemory.getLong(buffer + 8);
  }

  /** Address of the inline bytes. */
  public static long inlineData(long address) {
    return address + (operation(address) == SEND ? DATA_OFFSET : LOCAL_OFFSET);
  }

  /**
   * Writes the metadata of a request that asks for a completion; everything behind it is zero.
   *
   * @param length inline bytes, or local buffers
   * @param phase 0 or 1
   */
  public static void writeMeta(
      long address,
      int requestId,
      int operation,
      boolean inline,
      int length,
      int phase,
      int destination,
      int addressHandle,
      int queueKey) {
    RawMemory.fill(address, BYTES, (byte) 0);
    RawMemory.putShort(address + REQUEST_ID_OFFSET, (short) requestId);
    RawMemory.putByte(address + CTRL1_OFFSET, (byte) (META | operation | (inline ? INLINE : 0)));
    RawMemory.putByte(address + CTRL2_OFFSET, (byte) (FIRST | LAST | COMPLETION | (phase & PHASE)));
    RawMemory.putShort(address + DESTINATION_OFFSET, (short) destination);
    RawMemory.putShort(address + LENGTH_OFFSET, (short) length);
    RawMemory.putShort(address + ADDRESS_HANDLE_OFFSET, (short) addressHandle);
    RawMemory.putInt(address + QUEUE_KEY_OFFSET, queueKey);
  }

  /** Adds immediate data. */
  public static void putImmediate(long address, int immediate) {
    RawMemory.putInt(address + IMMEDIATE_OFFSET, immediate);
    RawMemory.putByte(
        address + CTRL1_OFFSET, (byte) (RawMemory.getByte(address + CTRL1_OFFSET) | HAS_IMMEDIATE));
  }

  /** Writes the remote memory of RDMA. */
  public static void putRemote(long address, int length, int key, long remote) {
    RawMemory.putInt(address + DATA_OFFSET, length);
    RawMemory.putInt(address + DATA_OFFSET + 4, key);
    RawMemory.putLong(address + DATA_OFFSET + 8, remote);
  }

  /** Writes local buffer {@code number}. */
  public static void putBuffer(long address, int number, int length, int key, long local) {
    long at = buffer(address, number);
    RawMemory.putInt(at, length);
    RawMemory.putInt(at + 4, key & LKEY_MASK);
    RawMemory.putLong(at + 8, local);
  }
}
