package dev.doorbell.core.gpi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * What the GPI back end needs beside a {@code core.queue.QueuePairView}: {@code struct
 * doorbell_gpi} of gpi_abi.h.
 *
 * @param ring address of the descriptors in the NIC's memory
 * @param consumed address of the NIC's consumer index
 * @param counter address of the counter of completions
 * @param logDepth log2 of the descriptors of the ring
 * @param peer number of the peer
 * @param counterId number of the counter
 */
public record GpiView(
    long ring, long consumed, long counter, int logDepth, int peer, int counterId) {
  /** Bytes of the structure. */
  public static final int BYTES = 64;

  private static final ValueLayout.OfLong U64 =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt U32 =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** The structure's bytes. */
  public byte[] encode() {
    byte[] bytes = new byte[BYTES];
    MemorySegment to = MemorySegment.ofArray(bytes);
    to.set(U64, 0, ring);
    to.set(U64, 8, consumed);
    to.set(U64, 16, counter);
    to.set(U32, 24, logDepth);
    to.set(U32, 28, peer);
    to.set(U32, 32, counterId);
    return bytes;
  }
}
