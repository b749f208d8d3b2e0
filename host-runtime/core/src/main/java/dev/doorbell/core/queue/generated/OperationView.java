package dev.doorbell.core.queue.generated;

import dev.doorbell.core.memory.BigEndian;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import javax.annotation.processing.Generated;

/**
 * One operation of the list that the protocol {@code operations} executes.
 *
 * <p>Written by FormatsTest from kernels/include/doorbell/abi.h.
 *
 * @param local {@code local}: payload source, or where fetched data lands
 * @param remote {@code remote}: target
 * @param bytes {@code bytes}: of the payload; atomics: ignored
 * @param operand {@code operand}: atomics: add or swap value; put signal: add value; immediate data
 * @param compare {@code compare}: compare-and-swap
 * @param signal {@code signal}: put signal: address of the remote 8-byte word
 * @param fetched {@code fetched}: put signal: where the word's old value lands, under local_key
 * @param localKey {@code local_key}: as the WQE holds it after byte-swapping Given as the HCA
 *     assigned it; stored byte-swapped.
 * @param remoteKey {@code remote_key}: see the header Given as the HCA assigned it; stored
 *     byte-swapped.
 * @param opcode {@code opcode}: DOORBELL_OP_*
 * @param queuePair {@code queue_pair}: index among the job's
 * @param flags {@code flags}: DOORBELL_OPERATION_*
 */
@Generated("FormatsTest")
public record OperationView(
    long local,
    long remote,
    long bytes,
    long operand,
    long compare,
    long signal,
    long fetched,
    int localKey,
    int remoteKey,
    int opcode,
    int queuePair,
    int flags) {
  /** Bytes of the structure. */
  public static final int BYTES = 80;

  /** {@code DOORBELL_OPERATION_WAIT}: wait for its completion before the next one */
  public static final int FLAG_WAIT = 0x1;

  /** Returns the structure's bytes. */
  public byte[] encode() {
    byte[] encoded = new byte[BYTES];
    encode(encoded, 0);
    return encoded;
  }

  /** Writes the structure's bytes at {@code offset}. */
  public void encode(byte[] into, int offset) {
    ByteBuffer to = ByteBuffer.wrap(into, offset, BYTES).slice().order(ByteOrder.LITTLE_ENDIAN);
    to.putLong(0, this.local);
    to.putLong(8, this.remote);
    to.putLong(16, this.bytes);
    to.putLong(24, this.operand);
    to.putLong(32, this.compare);
    to.putLong(40, this.signal);
    to.putLong(48, this.fetched);
    to.putInt(56, BigEndian.swap(this.localKey));
    to.putInt(60, BigEndian.swap(this.remoteKey));
    to.putInt(64, this.opcode);
    to.putInt(68, this.queuePair);
    to.putInt(72, this.flags);
  }
}
