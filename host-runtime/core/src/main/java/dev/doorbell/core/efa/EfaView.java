package dev.doorbell.core.efa;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * What the EFA back end needs beside a {@code core.queue.QueuePairView}: {@code struct
 * doorbell_efa} of efa_abi.h.
 *
 * @param completed address of the counter of good completions
 * @param failed address of the counter of others
 * @param counterMax the largest value of a counter, behind which it is 0 ({@code max_value} of
 *     {@code ibv_query_comp_cntr_caps})
 * @param counterStart what {@code completed} was before the first completion
 * @param remoteNumber queue pair at the peer
 * @param addressHandle the peer
 * @param queueKey of the peer's queue pair
 * @param maxBatch work requests that one doorbell may stand for
 */
public record EfaView(
    long completed,
    long failed,
    long counterMax,
    long counterStart,
    int remoteNumber,
    int addressHandle,
    int queueKey,
    int maxBatch) {
  /** Bytes of the structure. */
  public static final int BYTES = 64;

  /** Public sources give no number for EFA. */
  public static final long COUNTER_MAX = 0xffff_ffffL;

  /** Counters begin shortly before they wrap, so that every run has a wrap. */
  public static final long COUNTER_START = COUNTER_MAX - 2;

  private static final ValueLayout.OfLong U64 =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt U32 =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** The structure's bytes. */
  public byte[] encode() {
    byte[] bytes = new byte[BYTES];
    MemorySegment to = MemorySegment.ofArray(bytes);
    to.set(U64, 0, completed);
    to.set(U64, 8, failed);
    to.set(U64, 16, counterMax);
    to.set(U64, 24, counterStart);
    to.set(U32, 32, remoteNumber);
    to.set(U32, 36, addressHandle);
    to.set(U32, 40, queueKey);
    to.set(U32, 44, maxBatch);
    return bytes;
  }
}
