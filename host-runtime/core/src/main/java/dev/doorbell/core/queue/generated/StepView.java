package dev.doorbell.core.queue.generated;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import javax.annotation.processing.Generated;

/**
 * One step of a rank's part of a collective. Offsets count bytes in an arena.
 *
 * <p>Written by FormatsTest from kernels/include/doorbell/collective_abi.h.
 *
 * @param waitPeer {@code wait_peer}: see the header
 * @param waitFlag {@code wait_flag}: 0: do not wait
 * @param waitFlags {@code wait_flags}: see the header
 * @param combine {@code combine}: DOORBELL_COMBINE_*
 * @param target {@code target}: where the result goes; in the switch: in all GPUs
 * @param first {@code first}: the only operand of a copy, or the first of a reduction; in the
 *     switch: of all GPUs
 * @param second {@code second}: the second operand of a reduction; what is packed, of both
 * @param bytes {@code bytes}: of each
 * @param putPeer {@code put_peer}: see the header
 * @param putFlag {@code put_flag}: 0: none; packed data needs none
 * @param putFlags {@code put_flags}: see the header
 * @param put {@code put}: DOORBELL_PUT_*
 * @param putSource {@code put_source}: see the header
 * @param putTarget {@code put_target}: in the peer's arena
 * @param putBytes {@code put_bytes}: of the data, before it is packed
 * @param packed {@code packed}: where it is packed before it is put
 */
@Generated("FormatsTest")
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

  public static final int COMBINE_NONE = 0x0;

  public static final int COMBINE_COPY = 0x1;

  public static final int COMBINE_REDUCE = 0x2;

  /** {@code DOORBELL_COMBINE_SWITCH}: the NVSwitch adds `first` of all GPUs of the node; floats */
  public static final int COMBINE_SWITCH = 0x3;

  /** {@code DOORBELL_COMBINE_PACKED}: or: `second` is packed, and is waited for word by word */
  public static final int COMBINE_PACKED = 0x4;

  public static final int PUT_NONE = 0x0;

  public static final int PUT_DATA = 0x1;

  public static final int PUT_PACKED = 0x2;

  /** {@code DOORBELL_PUT_INLINE}: or: in the WQE */
  public static final int PUT_INLINE = 0x4;

  /**
   * {@code DOORBELL_PUT_NEAR}: or: the peer's arena and flags are reached by stores; nothing is
   * posted
   */
  public static final int PUT_NEAR = 0x8;

  /** Bits of {@code doorbell_job.opcode} above which the type of the elements is. */
  public static final int TYPE_SHIFT = 8;

  /** Returns the structure's bytes. */
  public byte[] encode() {
    byte[] encoded = new byte[BYTES];
    encode(encoded, 0);
    return encoded;
  }

  /** Writes the structure's bytes at {@code offset}. */
  public void encode(byte[] into, int offset) {
    ByteBuffer to = ByteBuffer.wrap(into, offset, BYTES).slice().order(ByteOrder.LITTLE_ENDIAN);
    to.putInt(0, this.waitPeer);
    to.putInt(4, this.waitFlag);
    to.putInt(8, this.waitFlags);
    to.putInt(12, this.combine);
    to.putLong(16, this.target);
    to.putLong(24, this.first);
    to.putLong(32, this.second);
    to.putLong(40, this.bytes);
    to.putInt(48, this.putPeer);
    to.putInt(52, this.putFlag);
    to.putInt(56, this.putFlags);
    to.putInt(60, this.put);
    to.putLong(64, this.putSource);
    to.putLong(72, this.putTarget);
    to.putLong(80, this.putBytes);
    to.putLong(88, this.packed);
  }
}
