package dev.doorbell.core.queue.generated;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import javax.annotation.processing.Generated;

/**
 * The first error on a queue pair as the kernel left it. Whoever stores it where kernels look
 * stores the status last.
 *
 * <p>Written by FormatsTest from kernels/include/doorbell/abi.h.
 *
 * @param status {@code status}: uint32_t[threads]: DOORBELL_OK or DOORBELL_ERROR_*
 * @param number24 {@code qpn}: see the header
 * @param syndrome {@code syndrome}: of the error CQE, or 0
 * @param vendorSyndrome {@code vendor_syndrome}: see the header
 * @param wqeIndex {@code wqe_index}: 16 bits, of the error CQE
 * @param opcode {@code opcode}: DOORBELL_OP_*
 * @param thread {@code thread}: linear index of the thread that saw it, over the whole grid
 * @param awaited {@code awaited}: the index that was waited for
 * @param completed {@code completed}: the completed counter at that time
 * @param timeNanos {@code time_ns}: %globaltimer
 */
@Generated("FormatsTest")
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

  /** Returns the structure's bytes. */
  public byte[] encode() {
    byte[] encoded = new byte[BYTES];
    encode(encoded, 0);
    return encoded;
  }

  /** Writes the structure's bytes at {@code offset}. */
  public void encode(byte[] into, int offset) {
    ByteBuffer to = ByteBuffer.wrap(into, offset, BYTES).slice().order(ByteOrder.LITTLE_ENDIAN);
    to.putInt(0, this.status);
    to.putInt(4, this.number24);
    to.putInt(8, this.syndrome);
    to.putInt(12, this.vendorSyndrome);
    to.putInt(16, this.wqeIndex);
    to.putInt(20, this.opcode);
    to.putLong(24, this.thread);
    to.putLong(32, this.awaited);
    to.putLong(40, this.completed);
    to.putLong(48, this.timeNanos);
  }

  /** Reads the structure's bytes. */
  public static ErrorRecord decode(byte[] bytes) {
    ByteBuffer from = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    return new ErrorRecord(
        from.getInt(0),
        from.getInt(4),
        from.getInt(8),
        from.getInt(12),
        from.getInt(16),
        from.getInt(20),
        from.getLong(24),
        from.getLong(32),
        from.getLong(40),
        from.getLong(48));
  }
}
