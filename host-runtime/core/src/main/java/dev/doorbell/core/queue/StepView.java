package dev.doorbell.core.queue;

import java.lang.foreign.MemorySegment;

/**
 * One step of a rank's part of a collective: {@code struct doorbell_step} of collective_abi.h,
 * which says what the fields mean. Offsets count bytes in an arena.
 *
 * @param waitPeer rank whose flag is waited for
 * @param waitFlag the flag, from 1; 0 for none
 * @param waitFlags how many flags that rank sends in a turn
 * @param combine {@code COMBINE_*}
 * @param target where the result of a copy or a reduction goes
 * @param first operand
 * @param second operand of a reduction, and what is packed
 * @param bytes of each of them
 * @param putPeer rank that data, flag or both go to
 * @param putFlag the flag, from 1; 0 for none
 * @param putFlags how many flags go to that rank in a turn
 * @param put {@code PUT_*}
 * @param putSource of the data
 * @param putTarget in the peer's arena
 * @param putBytes of the data, before it is packed
 * @param packed where it is packed
 */
public record StepView(
    int waitPeer,
    int waitFlag,
    int waitFlags,
    int combine,
    long target,
    long first,
    long second,
    long bytes,
    int putPeer,
    int putFlag,
    int putFlags,
    int put,
    long putSource,
    long putTarget,
    long putBytes,
    long packed) {
  /** Bytes of the structure. */
  public static final int BYTES = 96;

  public static final int COMBINE_NONE = 0;
  public static final int COMBINE_COPY = 1;
  public static final int COMBINE_REDUCE = 2;

  /** Or: the second operand is packed. */
  public static final int COMBINE_PACKED = 4;

  public static final int PUT_NONE = 0;
  public static final int PUT_DATA = 1;
  public static final int PUT_PACKED = 2;

  /** Or: in the WQE. */
  public static final int PUT_INLINE = 4;

  /** Bit of {@link #put}: by stores into the peer's arena; nothing is posted. */
  public static final int PUT_NEAR = 8;

  /** Bits of {@code doorbell_job.opcode} above which the type of the elements is. */
  public static final int TYPE_SHIFT = 8;

  /** Writes the structure's bytes at {@code offset}. */
  public void encode(byte[] bytes, int offset) {
    MemorySegment to = MemorySegment.ofArray(bytes).asSlice(offset, BYTES);
    to.set(Abi.U32, 0, waitPeer);
    to.set(Abi.U32, 4, waitFlag);
    to.set(Abi.U32, 8, waitFlags);
    to.set(Abi.U32, 12, combine);
    to.set(Abi.U64, 16, target);
    to.set(Abi.U64, 24, first);
    to.set(Abi.U64, 32, second);
    to.set(Abi.U64, 40, this.bytes);
    to.set(Abi.U32, 48, putPeer);
    to.set(Abi.U32, 52, putFlag);
    to.set(Abi.U32, 56, putFlags);
    to.set(Abi.U32, 60, put);
    to.set(Abi.U64, 64, putSource);
    to.set(Abi.U64, 72, putTarget);
    to.set(Abi.U64, 80, putBytes);
    to.set(Abi.U64, 88, packed);
  }
}
