package dev.doorbell.core.queue.generated;

import dev.doorbell.core.memory.BigEndian;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import javax.annotation.processing.Generated;

/**
 * The task of a protocol kernel, with the field names of abi.h.
 *
 * <p>Written by FormatsTest from kernels/include/doorbell/abi.h.
 */
@Generated("FormatsTest")
public class JobFields {
  /** Bytes of the structure. */
  public static final int BYTES = 176;

  /** {@code DOORBELL_PATH_PULL}: in GPU memory: the HCA reads it there */
  public static final int PATH_PULL = 0x0;

  /** {@code DOORBELL_PATH_INLINE}: in the WQE */
  public static final int PATH_INLINE = 0x1;

  /**
   * {@code DOORBELL_PATH_STAGE}: copied by the kernel to the staging area: on-chip or host memory
   */
  public static final int PATH_STAGE = 0x2;

  public static final int SCOPE_THREAD = 0x0;

  public static final int SCOPE_WARP = 0x1;

  /**
   * {@code DOORBELL_SCOPE_BLOCK}: What a protocol kernel is asked to do. Every protocol takes
   * (const doorbell_qp *qps, const
   */
  public static final int SCOPE_BLOCK = 0x2;

  public static final int OP_PUT = 0x0;

  public static final int OP_PUT_IMM = 0x1;

  public static final int OP_GET = 0x2;

  public static final int OP_PUT_INLINE = 0x3;

  public static final int OP_FETCH_ADD = 0x4;

  public static final int OP_COMPARE_SWAP = 0x5;

  /** {@code DOORBELL_OP_PUT_SIGNAL}: put, then fetch-add of operand on an 8-byte word behind it */
  public static final int OP_PUT_SIGNAL = 0x6;

  /** {@code local}: payload source, or where fetched data lands */
  public long local;

  /** {@code remote}: target */
  public long remote;

  /** {@code bytes}: of the payload; atomics: ignored */
  public long bytes;

  /** {@code iterations}: measured messages (of every thread, where threads post independently) */
  public long iterations;

  /** {@code warmup}: messages before those */
  public long warmup;

  /** {@code samples}: uint64_t[iterations]: nanoseconds; or 0 */
  public long samples;

  /** {@code status}: uint32_t[threads]: DOORBELL_OK or DOORBELL_ERROR_* */
  public long status;

  /** {@code inbox}: a message of each rank, one every stride, by rank */
  public long inbox;

  /** {@code staging}: staging area as the GPU sees it, or 0 */
  public long staging;

  /** {@code staging_bytes}: see the header */
  public long stagingBytes;

  /** {@code staging_wire}: its address in work requests */
  public long stagingWire;

  /** {@code stamps}: uint64_t[2]: globaltimer at first post, at last completion; or 0 */
  public long stamps;

  /** {@code stride}: bytes from one thread's message to the next one's, local and remote */
  public long stride;

  /** {@code operand}: atomics: add or swap value; put signal: add value; immediate data */
  public long operand;

  /** {@code compare}: compare-and-swap */
  public long compare;

  /**
   * {@code local_key}: as the WQE holds it after byte-swapping Given as the HCA assigned it; stored
   * byte-swapped.
   */
  public int localKey;

  /** {@code remote_key}: see the header Given as the HCA assigned it; stored byte-swapped. */
  public int remoteKey;

  /** {@code staging_key}: see the header Given as the HCA assigned it; stored byte-swapped. */
  public int stagingKey;

  /** {@code path}: DOORBELL_PATH_* */
  public int path;

  /** {@code scope}: DOORBELL_SCOPE_* */
  public int scope;

  /** {@code window}: messages in flight (bandwidth, rate) */
  public int window;

  /** {@code qp_count}: see the header */
  public int qpCount;

  /** {@code role}: ping-pong: 0 starts, 1 answers; with peers: the rank */
  public int role;

  /** {@code opcode}: DOORBELL_OP_* */
  public int opcode;

  /** {@code chunk_bytes}: staging: bytes of one slot */
  public int chunkBytes;

  /** {@code signals}: uint64_t[doorbell_signals.count], or 0 */
  public long signals;

  /** {@code peers}: struct doorbell_peer[qp_count], or 0 */
  public long peers;

  protected JobFields() {}

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
    to.putLong(24, this.iterations);
    to.putLong(32, this.warmup);
    to.putLong(40, this.samples);
    to.putLong(48, this.status);
    to.putLong(56, this.inbox);
    to.putLong(64, this.staging);
    to.putLong(72, this.stagingBytes);
    to.putLong(80, this.stagingWire);
    to.putLong(88, this.stamps);
    to.putLong(96, this.stride);
    to.putLong(104, this.operand);
    to.putLong(112, this.compare);
    to.putInt(120, BigEndian.swap(this.localKey));
    to.putInt(124, BigEndian.swap(this.remoteKey));
    to.putInt(128, BigEndian.swap(this.stagingKey));
    to.putInt(132, this.path);
    to.putInt(136, this.scope);
    to.putInt(140, this.window);
    to.putInt(144, this.qpCount);
    to.putInt(148, this.role);
    to.putInt(152, this.opcode);
    to.putInt(156, this.chunkBytes);
    to.putLong(160, this.signals);
    to.putLong(168, this.peers);
  }
}
