package dev.doorbell.core.queue.generated;

import dev.doorbell.core.memory.BigEndian;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import javax.annotation.processing.Generated;

/**
 * A rank as another rank's work requests name it.
 *
 * <p>Written by FormatsTest from kernels/include/doorbell/abi.h.
 *
 * @param inbox {@code inbox}: a message of each rank, one every stride, by rank
 * @param signals {@code signals}: uint64_t[doorbell_signals.count], or 0
 * @param inboxKey {@code inbox_key}: as the WQE holds it after byte-swapping Given as the HCA
 *     assigned it; stored byte-swapped.
 * @param signalsKey {@code signals_key}: see the header Given as the HCA assigned it; stored
 *     byte-swapped.
 */
@Generated("FormatsTest")
public record PeerView(long inbox, long signals, int inboxKey, int signalsKey) {
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
    to.putLong(0, this.inbox);
    to.putLong(8, this.signals);
    to.putInt(16, BigEndian.swap(this.inboxKey));
    to.putInt(20, BigEndian.swap(this.signalsKey));
  }
}
