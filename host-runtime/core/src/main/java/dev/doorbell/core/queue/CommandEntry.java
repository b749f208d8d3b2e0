package dev.doorbell.core.queue;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.queue.generated.CommandConstants;

/**
 * One command of a kernel to the CPU, and its 64-byte entry in a command queue: the Java side of
 * kernels/include/doorbell/command_queue.cuh, which has the diagram.
 *
 * <p>Words are little-endian. P is the phase, the inverse parity of the entry's lap: {@code ~(index
 * / entries) & 1}, so that zeroed memory is no entry. An entry is there when all eight phases
 * match; words may arrive in any order. {@code r l o c} are the bits that the phase displaces: bit
 * 0 of remote address, local address, operand and compare. Keys are byte-swapped in the entry, as
 * in a WQE; the fields of this class hold them as the HCA assigned them.
 *
 * <p>Mutable, so that a consumer decodes into one object without allocating. What the fields mean
 * depends on the opcode; command_queue.cuh has the table.
 */
public final class CommandEntry extends CommandConstants {
  /** 64-bit words of an entry. */
  public static final int WORDS = 8;

  private static final int INDEX_MASK = 0x1ff_ffff;
  private static final int INDEX_SHIFT = 7;

  public int opcode = OP_NOP;
  public int flags;

  /** {@code doorbell_qp.number}: 16 bits. */
  public int queuePair;

  /** Bytes, below 2^31. */
  public int length;

  public long remoteAddress;

  /** Or inline bytes 0 to 7, little-endian. */
  public long localAddress;

  /** Or inline bytes 8 to 15. */
  public long operand;

  /** Or inline bytes 16 to 23, or the signal's address. */
  public long compare;

  /** {@link #OP_PUT_SIGNAL}: where the signal's old value lands, under the local key. */
  public long fetched;

  public int remoteKey;
  public int localKey;

  /** Immediate data; {@link #OP_PUT_SIGNAL}: see {@link #signalKey}. */
  public int immediate;

  /** Creates a command that does nothing. */
  public CommandEntry() {}

  /** The phase bit of the entry at {@code index} in a queue of {@code entries} entries. */
  public static long phase(long index, int entries) {
    return (index & entries) == 0 ? 1 : 0;
  }

  /** True when {@code word} belongs to the lap with this phase. */
  public static boolean present(long word, long phase) {
    return (word & 1) == phase;
  }

  /** True when {@code word7} was written for {@code index}, as far as an entry can tell. */
  public static boolean isFor(long word7, long index) {
    return (((word7 >>> INDEX_SHIFT) ^ index) & INDEX_MASK) == 0;
  }

  /** The rkey of the signal of {@link #OP_PUT_SIGNAL}. */
  public int signalKey() {
    return BigEndian.swap(immediate);
  }

  /** Inline payload byte {@code i}. */
  public byte inlineByte(int i) {
    long word = i < 8 ? localAddress : i < 16 ? operand : compare;
    return (byte) (word >>> ((i & 7) * Byte.SIZE));
  }

  /** Sets the inline payload and the length. */
  public void inline(byte[] payload) {
    if (payload.length > INLINE_BYTES) {
      throw new IllegalArgumentException(
          "an inline put carries at most %d bytes, not %d; use a put"
              .formatted(INLINE_BYTES, payload.length));
    }
    long[] words = new long[INLINE_BYTES / Long.BYTES];
    for (int i = 0; i < payload.length; i++) {
      words[i / Long.BYTES] |= (payload[i] & 0xffL) << ((i % Long.BYTES) * Byte.SIZE);
    }
    localAddress = words[0];
    operand = words[1];
    compare = words[2];
    length = payload.length;
  }

  /** Copies all fields of {@code other}. */
  public void set(CommandEntry other) {
    opcode = other.opcode;
    flags = other.flags;
    queuePair = other.queuePair;
    length = other.length;
    remoteAddress = other.remoteAddress;
    localAddress = other.localAddress;
    operand = other.operand;
    compare = other.compare;
    fetched = other.fetched;
    remoteKey = other.remoteKey;
    localKey = other.localKey;
    immediate = other.immediate;
  }

  /** Reads the eight words of an entry that is {@link #present}. */
  public void decode(long[] words) {
    long displaced = words[5];
    opcode = (int) (words[0] >>> 56);
    queuePair = (int) (words[0] >>> 40) & 0xffff;
    flags = (int) (words[0] >>> 32) & 0xff;
    length = (int) words[0] >>> 1;
    remoteAddress = (words[1] & ~1L) | ((displaced >>> 1) & 1);
    localAddress = (words[2] & ~1L) | ((displaced >>> 2) & 1);
    operand = (words[3] & ~1L) | ((displaced >>> 3) & 1);
    compare = (words[4] & ~1L) | ((displaced >>> 4) & 1);
    fetched =
        ((words[6] >>> 1) & 0x7fff_ffff)
            | (((words[5] >>> 5) & 0x7ff_ffff) << 31)
            | (((words[7] >>> 1) & 0x3f) << 58);
    remoteKey = BigEndian.swap((int) (words[5] >>> 32));
    localKey = BigEndian.swap((int) (words[6] >>> 32));
    immediate = (int) (words[7] >>> 32);
  }

  @Override
  public String toString() {
    return "%s qp=%d length=%d remote=0x%x/0x%x local=0x%x/0x%x operand=0x%x compare=0x%x fetched=0x%x imm=0x%x flags=0x%x"
        .formatted(
            opcodeName(opcode),
            queuePair,
            length,
            remoteAddress,
            remoteKey,
            localAddress,
            localKey,
            operand,
            compare,
            fetched,
            immediate,
            flags);
  }
}
