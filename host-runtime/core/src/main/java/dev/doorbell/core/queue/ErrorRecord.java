package dev.doorbell.core.queue;

import java.lang.foreign.MemorySegment;

/**
 * The first error on a queue pair as the kernel left it: {@code struct doorbell_error} of abi.h.
 *
 * @param status {@link Abi} status word; {@link Abi#OK} while there is no error
 * @param number24 the queue pair
 * @param syndrome of the error CQE, or 0
 * @param vendorSyndrome of the error CQE
 * @param wqeIndex 16 bits, of the error CQE
 * @param opcode of the failed WQE
 * @param thread linear index of the thread that saw it
 * @param awaited the index that was waited for
 * @param completed the completed counter at that time
 * @param timeNanos {@code %globaltimer}
 */
public record ErrorRecord(
    int status,
    int number24,
    int syndrome,
    int vendorSyndrome,
    int wqeIndex,
    int opcode,
    long thread,
    long awaited,
    long completed,
    long timeNanos) {

  /** Bytes of the structure. */
  public static final int BYTES = 64;

  /** Reads the structure's bytes. */
  public static ErrorRecord decode(byte[] bytes) {
    MemorySegment from = MemorySegment.ofArray(bytes);
    return new ErrorRecord(
        from.get(Abi.U32, 0),
        from.get(Abi.U32, 4),
        from.get(Abi.U32, 8),
        from.get(Abi.U32, 12),
        from.get(Abi.U32, 16),
        from.get(Abi.U32, 20),
        from.get(Abi.U64, 24),
        from.get(Abi.U64, 32),
        from.get(Abi.U64, 40),
        from.get(Abi.U64, 48));
  }
}
