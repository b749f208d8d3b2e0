package dev.doorbell.core.push;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A ring for pushing as a kernel sees it: {@code struct doorbell_push_ring} of push_abi.h.
 *
 * @param headers address of {@code entries} headers of 64 bytes, on-chip
 * @param payload address of {@code slots} slots of {@code slotBytes}, on-chip
 * @param record address of the 64-bit committed index, on-chip
 * @param doorbell address of the register for the committed index
 * @param credit address of the two 64-bit indices that the HCA writes: released, acknowledged
 * @param counters address of {@link #COUNTERS_BYTES} bytes in GPU memory, zeroed by the host
 * @param deadlineNanos after which every device-side wait ends
 * @param entries messages in the ring, a power of two
 * @param slots of them with payload in the ring, a power of two or 0
 * @param slotBytes of one slot, a multiple of 16
 * @param batch messages to a doorbell
 * @param number of the ring
 * @param destinations message n goes to peer {@code firstDestination + n mod destinations}
 * @param share of a pool, in eighths: the ring may take a slot while it holds less than {@code
 *     share / 8} of what is free; 0: any that is free
 * @param pool address of {@link #POOL_BYTES} bytes in GPU memory, which say what is free of the
 *     slots that several rings share; 0: the slots are the ring's own
 */
public record PushRingView(
    long headers,
    long payload,
    long record,
    long doorbell,
    long credit,
    long counters,
    long deadlineNanos,
    int entries,
    int slots,
    int slotBytes,
    int batch,
    int number,
    int destinations,
    int firstDestination,
    int share,
    long pool) {

  /** Bytes of the structure. */
  public static final int BYTES = 96;

  /** Bytes of {@code struct doorbell_push_counters}. */
  public static final int COUNTERS_BYTES = 48;

  public static final int COUNTERS_RESERVED = 0;
  public static final int COUNTERS_SEEN = 8;
  public static final int COUNTERS_RUNG = 16;
  public static final int COUNTERS_DROPPED = 24;
  public static final int COUNTERS_PULLED = 32;
  public static final int COUNTERS_COMMITTED = 40;

  /** Slots of a pool, at most. */
  public static final int POOL_SLOTS = 64;

  /** Bytes of {@code struct doorbell_push_pool}. */
  public static final int POOL_BYTES = 8 + 8 * POOL_SLOTS;

  /** Bit s is set while slot s may be taken. */
  public static final int POOL_FREE = 0;

  /** Bits of the job's opcode, by which the kernels push_* do something differently. */
  public static final int LOSSY = 0x1;

  public static final int CHECKSUMS = 0x2;
  public static final int NO_CREDITS = 0x100;
  public static final int NO_FENCE = 0x200;
  public static final int NO_FLUSH = 0x400;

  private static final ValueLayout.OfLong U64 =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt U32 =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** The structure's bytes. */
  public byte[] encode() {
    byte[] bytes = new byte[BYTES];
    MemorySegment to = MemorySegment.ofArray(bytes);
    to.set(U64, 0, headers);
    to.set(U64, 8, payload);
    to.set(U64, 16, record);
    to.set(U64, 24, doorbell);
    to.set(U64, 32, credit);
    to.set(U64, 40, counters);
    to.set(U64, 48, deadlineNanos);
    to.set(U32, 56, entries);
    to.set(U32, 60, slots);
    to.set(U32, 64, slotBytes);
    to.set(U32, 68, batch);
    to.set(U32, 72, number);
    to.set(U32, 76, destinations);
    to.set(U32, 80, firstDestination);
    to.set(U32, 84, share);
    to.set(U64, 88, pool);
    return bytes;
  }
}
