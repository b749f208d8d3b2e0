package dev.doorbell.core.queue;

import java.lang.foreign.MemorySegment;

/**
 * The descriptor of a command queue: {@code struct doorbell_command_queue} of abi.h.
 *
 * @param ring address of the entries, host memory
 * @param head address of the producers' counter, GPU memory
 * @param consumed address of the consumer's counter, host memory
 * @param finished address of the counter of completed commands, host memory
 * @param entries a power of two
 * @param number which queue this is
 */
public record CommandQueueView(
    long ring, long head, long consumed, long finished, int entries, int number) {

  /** Bytes of the structure. */
  public static final int BYTES = 64;

  /** Bytes of one entry. */
  public static final int ENTRY_BYTES = 64;

  /** The structure's bytes. */
  public byte[] encode() {
    byte[] bytes = new byte[BYTES];
    MemorySegment to = MemorySegment.ofArray(bytes);
    to.set(Abi.U64, 0, ring);
    to.set(Abi.U64, 8, head);
    to.set(Abi.U64, 16, consumed);
    to.set(Abi.U64, 24, finished);
    to.set(Abi.U32, 32, entries);
    to.set(Abi.U32, 36, number);
    return bytes;
  }
}
