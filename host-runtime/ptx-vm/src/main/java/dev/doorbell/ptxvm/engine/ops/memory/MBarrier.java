package dev.doorbell.ptxvm.engine.ops.memory;

import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.ptxvm.engine.machine.Fault;

/**
 * The 8 bytes of an mbarrier in shared memory. PTX leaves their meaning open; here:
 *
 * <pre>
 *  63      62..61   60..40             39..20             19..0
 *  phase   0        bytes to come      arrivals to come   arrivals of a phase
 * </pre>
 *
 * <p>Bytes to come are signed: a copy may complete before it is announced. All threads of a block
 * run on one host thread, so a change is a load and a store.
 */
final class MBarrier {
  /** Arrivals of a phase at most, and bytes to come (PTX ISA, "Size and alignment of mbarrier"). */
  static final long MOST = (1L << 20) - 1;

  private static final int PENDING = 20;
  private static final int BYTES = 40;
  private static final int BYTES_BITS = 21;
  private static final long BYTES_MASK = ((1L << BYTES_BITS) - 1) << BYTES;

  private MBarrier() {}

  static void initialise(long at, long count) {
    if (count < 1 || count > MOST) {
      throw new Fault("mbarrier for %d arrivals; 1 to %d are possible".formatted(count, MOST));
    }
    RawMemory.putLong(at, count << PENDING | count);
  }

  static void invalidate(long at) {
    word(at);
    RawMemory.putLong(at, 0);
  }

  /** The word, of a barrier that was initialised. */
  static long word(long at) {
    long word = RawMemory.getLong(at);
    if ((word & MOST) == 0) {
      throw new Fault("the mbarrier here was not initialised");
    }
    return word;
  }

  /** How many arrivals the phase that {@code word} shows still waits for. */
  static long pending(long word) {
    return word >>> PENDING & MOST;
  }

  /** 0 or 1. */
  static long parity(long word) {
    return word >>> 63;
  }

  /**
   * {@code count} arrivals; the phase ends with the last one when no bytes are to come.
   *
   * @param drops the barrier expects them no more from the next phase on
   * @return the word before
   */
  static long arrive(long at, long count, boolean drops) {
    long word = word(at);
    long pending = pending(word);
    if (count < 1 || count > pending) {
      throw new Fault(
          "%d arrivals at an mbarrier whose phase waits for %d".formatted(count, pending));
    }
    long expected = (word & MOST) - (drops ? count : 0);
    put(at, word, expected, pending - count, bytes(word));
    return word;
  }

  /** {@code count} more bytes are to come in this phase; negative when some came. */
  static void expectBytes(long at, long count) {
    long word = word(at);
    long bytes = bytes(word) + count;
    if (Math.abs(bytes) > MOST) {
      throw new Fault("%d bytes to come at an mbarrier; at most %d".formatted(bytes, MOST));
    }
    put(at, word, word & MOST, pending(word), bytes);
  }

  private static long bytes(long word) {
    int unused = Long.SIZE - BYTES - BYTES_BITS;
    return word << unused >> (unused + BYTES);
  }

  private static void put(long at, long word, long expected, long pending, long bytes) {
    long phase = word & Long.MIN_VALUE;
    if (pending == 0 && bytes == 0) {
      RawMemory.putLong(at, (phase ^ Long.MIN_VALUE) | expected << PENDING | expected);
    } else {
      RawMemory.putLong(at, phase | (bytes << BYTES & BYTES_MASK) | pending << PENDING | expected);
    }
  }
}
