package dev.doorbell.core.queue.generated;

import dev.doorbell.core.memory.BigEndian;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import javax.annotation.processing.Generated;

/**
 * The words that a protocol keeps beside its messages.
 *
 * <p>Written by FormatsTest from kernels/include/doorbell/abi.h.
 *
 * @param own {@code own}: uint64_t[count] of this rank
 * @param remote {@code remote}: target
 * @param ownKey {@code own_key}: as the WQE holds it after byte-swapping Given as the HCA assigned
 *     it; stored byte-swapped.
 * @param remoteKey {@code remote_key}: see the header Given as the HCA assigned it; stored
 *     byte-swapped.
 * @param count {@code count}: see the header
 */
@Generated("FormatsTest")
public record SignalsView(long own, long remote, int ownKey, int remoteKey, int count) {
  /** Bytes of the structure. */
  public static final int BYTES = 32;

  /** Returns the structure's bytes. */
  public byte[] encode() {
    byte[] encoded = new byte[BYTES];
    encode(encoded, 0);
    return encoded;
  }

  /** Writes the structure's bytes at {@code offset}. */
  public void encode(byte[] into, int offset) {
    ByteBuffer to = ByteBuffer.wrap(into, offset, BYTES).slice().order(ByteOrder.LITTLE_ENDIAN);
    to.putLong(0, this.own);
    to.putLong(8, this.remote);
    to.putInt(16, BigEndian.swap(this.ownKey));
    to.putInt(20, BigEndian.swap(this.remoteKey));
    to.putInt(24, this.count);
  }
}
