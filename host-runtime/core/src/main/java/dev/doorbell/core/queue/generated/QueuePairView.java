package dev.doorbell.core.queue.generated;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import javax.annotation.processing.Generated;

/**
 * A queue pair as a kernel sees it.
 *
 * <p>Written by FormatsTest from kernels/include/doorbell/abi.h.
 *
 * @param sendRing {@code sq_ring}: send ring, 64-byte blocks
 * @param sendRecord {@code sq_record}: the send counter's word of the doorbell record (byte 4 of
 *     it)
 * @param doorbell {@code doorbell}: the doorbell register; BlueFlame halves start here
 * @param completionRing {@code cq_ring}: completion ring, 64-byte entries
 * @param completionRecord {@code cq_record}: consumer index word, big-endian
 * @param counters {@code counters}: struct doorbell_counters, then uint64_t[sq_blocks]
 * @param error {@code error}: struct doorbell_error
 * @param commands {@code commands}: struct doorbell_command_queue or doorbell_efa, or 0
 * @param ringRequest {@code ring_request}: 64-bit word that the CPU watches (DOORBELL_QP_CPU_RUNG),
 *     or 0
 * @param deadlineNanos {@code deadline_ns}: every wait ends after this many nanoseconds
 * @param sendBlocks {@code sq_blocks}: a power of two
 * @param completionEntries {@code cq_entries}: a power of two
 * @param number24 {@code qpn}: see the header
 * @param flags {@code flags}: DOORBELL_OPERATION_*
 * @param blueFlameBytes {@code blueflame_bytes}: of one half, or 0
 * @param batch {@code batch}: who has rung for this many blocks may leave the rest to the next
 *     poster
 * @param maxInline {@code max_inline}: bytes
 * @param index {@code number}: index among the queue pairs of the job
 */
@Generated("FormatsTest")
public record QueuePairView(
    long sendRing,
    long sendRecord,
    long doorbell,
    long completionRing,
    long completionRecord,
    long counters,
    long error,
    long commands,
    long ringRequest,
    long deadlineNanos,
    int sendBlocks,
    int completionEntries,
    int number24,
    int flags,
    int blueFlameBytes,
    int batch,
    int maxInline,
    int index) {
  /** Bytes of the structure. */
  public static final int BYTES = 128;

  public static final int COUNTERS_BYTES = 512;

  public static final int COUNTERS_RESERVED = 0;

  public static final int COUNTERS_POLLER = 128;

  public static final int COUNTERS_RUNG = 256;

  public static final int COUNTERS_BLUEFLAME = 264;

  public static final int COUNTERS_COMPLETED = 384;

  public static final int COUNTERS_CQ_INDEX = 392;

  public static final int COUNTERS_POISON = 400;

  public static final int COUNTERS_SEEN = 408;

  /** {@code DOORBELL_QP_CQ_COLLAPSED}: every CQE goes to entry 0 */
  public static final int FLAG_CQ_COLLAPSED = 0x1;

  /** {@code DOORBELL_QP_SCOPE_SYSTEM}: order for the HCA at system scope; else GPU scope */
  public static final int FLAG_SCOPE_SYSTEM = 0x2;

  /** {@code DOORBELL_QP_RECORD_LAST}: ring, write the record, ring again; else record first */
  public static final int FLAG_RECORD_LAST = 0x4;

  /** {@code DOORBELL_QP_BLUEFLAME}: ring by storing the WQE to the register */
  public static final int FLAG_BLUEFLAME = 0x8;

  /** {@code DOORBELL_QP_CPU_RUNG}: raise ring_request; the CPU writes record and doorbell */
  public static final int FLAG_CPU_RUNG = 0x10;

  /** {@code DOORBELL_QP_PROXY}: hand commands to the CPU, which posts */
  public static final int FLAG_PROXY = 0x20;

  /** {@code DOORBELL_QP_EXCLUSIVE}: one thread posts: nobody to wait for */
  public static final int FLAG_EXCLUSIVE = 0x40;

  /** {@code DOORBELL_QP_CQ_RECORD}: the HCA checks for overrun: pollers write cq_record */
  public static final int FLAG_CQ_RECORD = 0x80;

  /** {@code DOORBELL_QP_NO_RECORD}: doorbells do not get lost: there is no record to write */
  public static final int FLAG_NO_RECORD = 0x100;

  /**
   * {@code DOORBELL_QP_ORDER_PACK}: a short message carries its signal in its last word; goes with
   * another
   */
  public static final int FLAG_ORDER_PACK = 0x200;

  /** {@code DOORBELL_QP_ORDER_ATOMIC}: a signal adds by an atomic instead of writing */
  public static final int FLAG_ORDER_ATOMIC = 0x400;

  /** {@code DOORBELL_QP_ORDER_FLUSH}: a READ goes before a signal, which waits for it */
  public static final int FLAG_ORDER_FLUSH = 0x800;

  /** {@code DOORBELL_QP_ORDER_FENCE}: a signal has the strong-ordering fence bit */
  public static final int FLAG_ORDER_FENCE = 0x1000;

  /** {@code DOORBELL_QP_ORDER_WAIT}: a signal is posted when what is before it is complete */
  public static final int FLAG_ORDER_WAIT = 0x2000;

  /** {@code DOORBELL_QP_QUIET_READ}: completed is not visible to everybody: a READ makes it so */
  public static final int FLAG_QUIET_READ = 0x4000;

  /** {@code DOORBELL_QP_EFA}: the Elastic Fabric Adapter's: efa.cuh, struct doorbell_efa */
  public static final int FLAG_EFA = 0x8000;

  /**
   * {@code DOORBELL_RESERVED_SHIFT}: A poster that found no room in the ring sets this: its blocks
   * were never written, nobody rings
   */
  public static final int RESERVED_SHIFT = 0x14;

  /**
   * {@code DOORBELL_RESERVED_BROKEN}: The first error on a queue pair. Host-visible; all zero while
   * there is none. The status is written
   */
  public static final long RESERVED_BROKEN = 0x8000000000000000L;

  /** Returns the structure's bytes. */
  public byte[] encode() {
    byte[] encoded = new byte[BYTES];
    encode(encoded, 0);
    return encoded;
  }

  /** Writes the structure's bytes at {@code offset}. */
  public void encode(byte[] into, int offset) {
    ByteBuffer to = ByteBuffer.wrap(into, offset, BYTES).slice().order(ByteOrder.LITTLE_ENDIAN);
    to.putLong(0, this.sendRing);
    to.putLong(8, this.sendRecord);
    to.putLong(16, this.doorbell);
    to.putLong(24, this.completionRing);
    to.putLong(32, this.completionRecord);
    to.putLong(40, this.counters);
    to.putLong(48, this.error);
    to.putLong(56, this.commands);
    to.putLong(64, this.ringRequest);
    to.putLong(72, this.deadlineNanos);
    to.putInt(80, this.sendBlocks);
    to.putInt(84, this.completionEntries);
    to.putInt(88, this.number24);
    to.putInt(92, this.flags);
    to.putInt(96, this.blueFlameBytes);
    to.putInt(100, this.batch);
    to.putInt(104, this.maxInline);
    to.putInt(108, this.index);
  }

  /** Returns a copy with another {@code commands}. */
  public QueuePairView withCommands(long commands) {
    return new QueuePairView(
        sendRing,
        sendRecord,
        doorbell,
        completionRing,
        completionRecord,
        counters,
        error,
        commands,
        ringRequest,
        deadlineNanos,
        sendBlocks,
        completionEntries,
        number24,
        flags,
        blueFlameBytes,
        batch,
        maxInline,
        index);
  }

  /** Returns a copy with another {@code flags}. */
  public QueuePairView withFlags(int flags) {
    return new QueuePairView(
        sendRing,
        sendRecord,
        doorbell,
        completionRing,
        completionRecord,
        counters,
        error,
        commands,
        ringRequest,
        deadlineNanos,
        sendBlocks,
        completionEntries,
        number24,
        flags,
        blueFlameBytes,
        batch,
        maxInline,
        index);
  }
}
