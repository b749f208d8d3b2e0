package dev.doorbell.core.gpi.generated;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import javax.annotation.processing.Generated;

/**
 * The data that the GPI back end needs beside a {@code core.queue.QueuePairView}.
 *
 * <p>Written by FormatsTest from kernels/include/doorbell/gpi_abi.h.
 *
 * @param ring {@code ring}: descriptors of 64 bytes in the NIC's memory
 * @param consumed {@code consumed}: address of the NIC's 64-bit consumer index, GPU memory
 * @param counter {@code counter}: address of the 64-bit counter of completions, GPU memory
 * @param logDepth {@code log_depth}: of the ring
 * @param peer {@code peer}: see the header
 * @param counterId {@code counter_id}: see the header
 */
@Generated("FormatsTest")
public record GpiView(
    long ring, long consumed, long counter, int logDepth, int peer, int counterId) {
  /** Bytes of the structure. */
  public static final int BYTES = 64;

  /** Returns the structure's bytes. */
  public byte[] encode() {
    byte[] encoded = new byte[BYTES];
    encode(encoded, 0);
    return encoded;
  }

  /** Writes the structure's bytes at {@code offset}. */
  public void encode(byte[] into, int offset) {
    ByteBuffer to = ByteBuffer.wrap(into, offset, BYTES).slice().order(ByteOrder.LITTLE_ENDIAN);
    to.putLong(0, this.ring);
    to.putLong(8, this.consumed);
    to.putLong(16, this.counter);
    to.putInt(24, this.logDepth);
    to.putInt(28, this.peer);
    to.putInt(32, this.counterId);
  }
}
