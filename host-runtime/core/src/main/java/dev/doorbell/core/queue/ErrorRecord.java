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
 * @param thread linear index of the thread that saw it; {@link #CPU} for the host
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

  /** The thread of errors that the CPU saw: a proxy posted the WQE. */
  public static final long CPU = -1;

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

  /** The structure's bytes; whoever stores them where kernels look stores the status last. */
  public byte[] encode() {
    byte[] bytes = new byte[BYTES];
    MemorySegment to = MemorySegment.ofArray(bytes);
    to.set(Abi.U32, 0, status);
    to.set(Abi.U32, 4, number24);
    to.set(Abi.U32, 8, syndrome);
    to.set(Abi.U32, 12, vendorSyndrome);
    to.set(Abi.U32, 16, wqeIndex);
    to.set(Abi.U32, 20, opcode);
    to.set(Abi.U64, 24, thread);
    to.set(Abi.U64, 32, awaited);
    to.set(Abi.U64, 40, completed);
    to.set(Abi.U64, 48, timeNanos);
    return bytes;
  }
}
