package dev.doorbell.core.efa.generated;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import javax.annotation.processing.Generated;

/**
 * The data that the EFA back end needs beside a {@code core.queue.QueuePairView}.
 *
 * <p>Written by FormatsTest from kernels/include/doorbell/efa_abi.h.
 *
 * @param completed {@code completed}: address of the 64-bit counter of good completions, GPU or
 *     host memory
 * @param failed {@code failed}: address of the counter of others
 * @param counterMax {@code counter_max}: a counter that holds this becomes 0 next
 * @param counterStart {@code counter_start}: what `completed` held before the first completion
 * @param remoteNumber {@code remote_number}: queue pair at the peer
 * @param addressHandle {@code address_handle}: the peer
 * @param queueKey {@code queue_key}: of the peer's queue pair
 * @param maxBatch {@code max_batch}: work requests that one doorbell may stand for
 */
@Generated("FormatsTest")
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

  /** Largest value of a counter; public sources give no number for EFA. */
  public static final long COUNTER_MAX = 0xffff_ffffL;

  /** Counters begin shortly before they wrap, so that every run has a wrap. */
  public static final long COUNTER_START = COUNTER_MAX - 2;

  /** Returns the structure's bytes. */
  public byte[] encode() {
    byte[] encoded = new byte[BYTES];
    encode(encoded, 0);
    return encoded;
  }

  /** Writes the structure's bytes at {@code offset}. */
  public void encode(byte[] into, int offset) {
    ByteBuffer to = ByteBuffer.wrap(into, offset, BYTES).slice().order(ByteOrder.LITTLE_ENDIAN);
    to.putLong(0, this.completed);
    to.putLong(8, this.failed);
    to.putLong(16, this.counterMax);
    to.putLong(24, this.counterStart);
    to.putInt(32, this.remoteNumber);
    to.putInt(36, this.addressHandle);
    to.putInt(40, this.queueKey);
    to.putInt(44, this.maxBatch);
  }
}
