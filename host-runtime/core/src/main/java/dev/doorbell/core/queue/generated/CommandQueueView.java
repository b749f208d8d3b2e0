package dev.doorbell.core.queue.generated;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import javax.annotation.processing.Generated;

/**
 * The descriptor of a command queue.
 *
 * <p>Written by FormatsTest from kernels/include/doorbell/abi.h.
 *
 * @param ring {@code ring}: entries of 64 bytes, host memory
 * @param head {@code head}: address of the producers' 64-bit counter, GPU memory
 * @param consumed {@code consumed}: address of the consumer's 64-bit counter, host memory: entries
 *     below are free
 * @param finished {@code finished}: address of a 64-bit counter, host memory: commands below have
 *     completed
 * @param entries {@code entries}: a power of two
 * @param number {@code number}: index among the queue pairs of the job
 */
@Generated("FormatsTest")
public record CommandQueueView(
    long ring, long head, long consumed, long finished, int entries, int number) {
  /** Bytes of the structure. */
  public static final int BYTES = 64;

  /** Bytes of one entry. */
  public static final int ENTRY_BYTES = 64;

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
    to.putLong(8, this.head);
    to.putLong(16, this.consumed);
    to.putLong(24, this.finished);
    to.putInt(32, this.entries);
    to.putInt(36, this.number);
  }
}
