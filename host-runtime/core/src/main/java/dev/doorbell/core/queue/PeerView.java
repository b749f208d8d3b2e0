package dev.doorbell.core.queue;

import dev.doorbell.core.memory.BigEndian;
import java.lang.foreign.MemorySegment;

/**
 * A rank as another rank's work requests name it: {@code struct doorbell_peer} of abi.h.
 *
 * @param inbox address of its inbox
 * @param signals address of its signal words, or 0
 * @param inboxKey key of {@code inbox}, as the HCA assigned it
 * @param signalsKey key of {@code signals}, likewise
 */
public record PeerView(long inbox, long signals, int inboxKey, int signalsKey) {
  /** Bytes of the structure. */
  public static final int BYTES = 32;

  /** The structure's bytes. Keys are stored byte-swapped. */
  public byte[] encode() {
    byte[] bytes = new byte[BYTES];
    MemorySegment to = MemorySegment.ofArray(bytes);
    to.set(Abi.U64, 0, inbox);
    to.set(Abi.U64, 8, signals);
    to.set(Abi.U32, 16, BigEndian.swap(inboxKey));
    to.set(Abi.U32, 20, BigEndian.swap(signalsKey));
    return bytes;
  }
}
