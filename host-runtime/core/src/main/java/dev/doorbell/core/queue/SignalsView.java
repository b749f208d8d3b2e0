package dev.doorbell.core.queue;

import dev.doorbell.core.memory.BigEndian;
import java.lang.foreign.MemorySegment;

/**
 * The words that a protocol keeps beside its messages: {@code struct doorbell_signals} of abi.h.
 *
 * @param own address of this rank's words
 * @param remote address of the peer's
 * @param ownKey local key of {@code own}, as the HCA assigned it
 * @param remoteKey remote key of {@code remote}, likewise
 * @param count words at each rank
 */
public record SignalsView(long own, long remote, int ownKey, int remoteKey, int count) {
  /** Bytes of the structure. */
  public static final int BYTES = 32;

  /** The structure's bytes. Keys are stored byte-swapped. */
  public byte[] encode() {
    byte[] bytes = new byte[BYTES];
    MemorySegment to = MemorySegment.ofArray(bytes);
    to.set(Abi.U64, 0, own);
    to.set(Abi.U64, 8, remote);
    to.set(Abi.U32, 16, BigEndian.swap(ownKey));
    to.set(Abi.U32, 20, BigEndian.swap(remoteKey));
    to.set(Abi.U32, 24, count);
    return bytes;
  }
}
