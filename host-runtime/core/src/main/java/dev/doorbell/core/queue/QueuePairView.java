package dev.doorbell.core.queue;

import dev.doorbell.core.memory.Memory;
import java.lang.foreign.MemorySegment;

/**
 * A queue pair as a kernel sees it: {@code struct doorbell_qp} of abi.h.
 *
 * @param sendRing address of the send ring
 * @param sendRecord address of the send counter's word of the doorbell record
 * @param doorbell address of the doorbell register
 * @param completionRing address of the completion ring
 * @param completionRecord address of the consumer index word
 * @param counters address of {@code struct doorbell_counters} and the marks behind it
 * @param error address of {@code struct doorbell_error}
 * @param commands address of {@code struct doorbell_command_queue}, {@code doorbell_efa} or {@code
 *     doorbell_gpi}, or 0
 * @param ringRequest address of the word that the CPU watches, or 0
 * @param deadlineNanos every device-side wait ends after this many nanoseconds
 * @param sendBlocks send ring in 64-byte blocks, a power of two
 * @param completionEntries completion ring in entries, a power of two
 * @param number24 the queue pair number
 * @param flags {@code FLAG_*}
 * @param blueFlameBytes bytes of one BlueFlame half, or 0
 * @param batch who has rung for this many blocks may leave the rest to the next poster
 * @param maxInline bytes of the largest inline payload
 * @param index index among the queue pairs of a job
 */
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

  /**
   * Bytes of {@code struct doorbell_counters}; see {@link #countersBytes} for what is allocated.
   */
  public static final int COUNTERS_BYTES = 512;

  public static final int COUNTERS_RESERVED = 0;
  public static final int COUNTERS_POLLER = 128;
  public static final int COUNTERS_RUNG = 256;
  public static final int COUNTERS_BLUEFLAME = 264;
  public static final int COUNTERS_COMPLETED = 384;
  public static final int COUNTERS_CQ_INDEX = 392;
  public static final int COUNTERS_POISON = 400;
  public static final int COUNTERS_SEEN = 408;

  /** Where the block index begins in the word at {@link #COUNTERS_RESERVED}. */
  public static final int RESERVED_SHIFT = 20;

  /** Bit of the word at {@link #COUNTERS_RESERVED}: some blocks were never written. */
  public static final long RESERVED_BROKEN = 1L << 63;

  public static final int FLAG_CQ_COLLAPSED = 0x01;
  public static final int FLAG_SCOPE_SYSTEM = 0x02;
  public static final int FLAG_RECORD_LAST = 0x04;
  public static final int FLAG_BLUEFLAME = 0x08;
  public static final int FLAG_CPU_RUNG = 0x10;
  public static final int FLAG_PROXY = 0x20;
  public static final int FLAG_EXCLUSIVE = 0x40;
  public static final int FLAG_CQ_RECORD = 0x80;
  public static final int FLAG_NO_RECORD = 0x100;
  public static final int FLAG_ORDER_PACK = 0x200;
  public static final int FLAG_ORDER_ATOMIC = 0x400;
  public static final int FLAG_ORDER_FLUSH = 0x800;
  public static final int FLAG_ORDER_FENCE = 0x1000;
  public static final int FLAG_ORDER_WAIT = 0x2000;
  public static final int FLAG_QUIET_READ = 0x4000;
  public static final int FLAG_EFA = 0x8000;
  public static final int FLAG_GPI = 0x10000;

  /**
   * Bytes to allocate, and to zero, for {@link #counters} of a send ring of {@code sendBlocks}: the
   * structure, and behind it a 64-bit mark for each block.
   */
  public static long countersBytes(int sendBlocks) {
    return COUNTERS_BYTES + (long) Long.BYTES * sendBlocks;
  }

  /**
   * Blocks that kernels found completed, by {@code struct doorbell_counters}: the larger of {@code
   * completed} and {@code seen}. Exact where no kernel runs.
   */
  public static long completedBlocks(Memory counters) {
    return Math.max(counters.getLong(COUNTERS_COMPLETED), counters.getLong(COUNTERS_SEEN));
  }

  /** The same, with commands for the CPU in place of WQEs; {@code queue} describes their queue. */
  public QueuePairView proxied(long queue) {
    return with(queue, flags | FLAG_PROXY);
  }

  /** The same, with these flags too. */
  public QueuePairView with(int more) {
    return with(commands, flags | more);
  }

  private QueuePairView with(long queue, int allFlags) {
    return new QueuePairView(
        sendRing,
        sendRecord,
        doorbell,
        completionRing,
        completionRecord,
        counters,
        error,
        queue,
        ringRequest,
        deadlineNanos,
        sendBlocks,
        completionEntries,
        number24,
        allFlags,
        blueFlameBytes,
        batch,
        maxInline,
        index);
  }

  /** The structure's bytes. */
  public byte[] encode() {
    byte[] bytes = new byte[BYTES];
    MemorySegment to = MemorySegment.ofArray(bytes);
    to.set(Abi.U64, 0, sendRing);
    to.set(Abi.U64, 8, sendRecord);
    to.set(Abi.U64, 16, doorbell);
    to.set(Abi.U64, 24, completionRing);
    to.set(Abi.U64, 32, completionRecord);
    to.set(Abi.U64, 40, counters);
    to.set(Abi.U64, 48, error);
    to.set(Abi.U64, 56, commands);
    to.set(Abi.U64, 64, ringRequest);
    to.set(Abi.U64, 72, deadlineNanos);
    to.set(Abi.U32, 80, sendBlocks);
    to.set(Abi.U32, 84, completionEntries);
    to.set(Abi.U32, 88, number24);
    to.set(Abi.U32, 92, flags);
    to.set(Abi.U32, 96, blueFlameBytes);
    to.set(Abi.U32, 100, batch);
    to.set(Abi.U32, 104, maxInline);
    to.set(Abi.U32, 108, index);
    return bytes;
  }
}
