package dev.doorbell.core.queue;

import dev.doorbell.core.memory.BigEndian;
import java.lang.foreign.MemorySegment;

/**
 * One operation of the list that the protocol {@code operations} executes: {@code struct
 * doorbell_operation} of abi.h.
 *
 * @param local payload source, or where fetched data lands
 * @param remote target address
 * @param bytes of the payload; ignored by atomics
 * @param operand atomics: add or swap value; put signal: add value; put with immediate: the data
 * @param compare compare-and-swap: the value to compare with
 * @param signal put signal: address of the remote 8-byte word
 * @param fetched put signal: where the word's old value lands, under {@code localKey}
 * @param localKey as the HCA assigned it; stored byte-swapped
 * @param remoteKey as the HCA assigned it; stored byte-swapped
 * @param opcode {@code JobView.OP_*}
 * @param queuePair index among the job's queue pairs
 * @param flags {@code FLAG_*}
 */
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

  /** Wait for the completion before the next operation. */
  public static final int FLAG_WAIT = 0x01;

  /** The structure's bytes. */
  public byte[] encode() {
    byte[] encoded = new byte[BYTES];
    MemorySegment to = MemorySegment.ofArray(encoded);
    to.set(Abi.U64, 0, local);
    to.set(Abi.U64, 8, remote);
    to.set(Abi.U64, 16, bytes);
    to.set(Abi.U64, 24, operand);
    to.set(Abi.U64, 32, compare);
    to.set(Abi.U64, 40, signal);
    to.set(Abi.U64, 48, fetched);
    to.set(Abi.U32, 56, BigEndian.swap(localKey));
    to.set(Abi.U32, 60, BigEndian.swap(remoteKey));
    to.set(Abi.U32, 64, opcode);
    to.set(Abi.U32, 68, queuePair);
    to.set(Abi.U32, 72, flags);
    return encoded;
  }
}
