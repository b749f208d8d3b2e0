package dev.doorbell.core.gpi;

import dev.doorbell.core.memory.RawMemory;

/**
 * A command of a GPU to a NIC: {@code gpi_gfd_t} of NCCL 2.30.7 (src/include/nccl_device/gin/gpi/
 * gin_gpi_device_host_common.h). Eight segments of eight bytes, each with the owner bit, so that
 * they may arrive in any order: the descriptor is there when all eight have the owner of this lap,
 * which is {@code index >> log2(depth)} and so 0 in the first.
 *
 * <pre>
 *     63           48 47           32 31    24 23    16 15            1 0
 *    +---------------+---------------+--------+--------+--------------+-+
 *  0 |    signal     |    counter    |op_flags|   op   |       0      |O|  header
 *    +---------------+---------------+--------+--------+--------------+-+
 *  1 |             size              |             pe                 |O|  destination
 *    +-------------------------------+-----------------+--------------+-+
 *  2 |       signal value, low       | target's handle |       0      |O|
 *    +-------------------------------+-----------------+--------------+-+
 *  3 |       signal value, high      | source's handle |       0      |O|
 *    +-------------------------------+-----------------+--------------+-+
 *  4 |                     offset in the target                       |O|
 *    +----------------------------------------------------------------+-+
 *  5 |                     offset in the source                       |O|
 *    +-------------------------------+--------------------------------+-+
 *  6 |      inline data, low         |                0               |O|
 *    +-------------------------------+--------------------------------+-+
 *  7 |      inline data, high        |                0               |O|
 *    +-------------------------------+--------------------------------+-+
 * </pre>
 */
public final class Descriptor {
  public static final int BYTES = 64;

  /** Segments ({@code GPI_GFD_SEG_MAX}). */
  public static final int SEGMENTS = 8;

  /** {@code enum gpi_gfd_data_op}. */
  public static final int READ = 0;

  public static final int WRITE = 1;
  public static final int WRITE_SIGNAL_ADD = 2;
  public static final int WRITE_SIGNAL_COUNTED = 3;
  public static final int WRITE_INLINE = 4;
  public static final int WRITE_INLINE_SIGNAL_ADD = 5;
  public static final int WRITE_INLINE_SIGNAL_COUNTED = 6;
  public static final int ATOMIC_ADD = 7;
  public static final int FLUSH = 8;

  /** Bit of {@code op}: a command about counters or signals ({@code GPI_GFD_OP_CTRL}). */
  public static final int CONTROL = 1 << 7;

  /** {@code enum gpi_gfd_ctrl_op}. */
  public static final int COUNTER_RESET = 0;

  public static final int COUNTER_WRITEBACK = 2;
  public static final int SIGNAL_RESET = 3;

  /** Bit of {@code op_flags}: the counter counts its completion. */
  public static final int COUNTED = 1 << 1;

  /** Bit of {@code op_flags}: the counter is written to GPU memory. */
  public static final int WRITEBACK = 1 << 2;

  /** Inline bytes at most. */
  public static final int MAX_INLINE = 8;

  /** Bit of a counter: an operation failed ({@code GPI_COUNTER_FLAG_ERROR}). */
  public static final long COUNTER_ERROR = 1L << 62;

  /** Bits of a counter that count ({@code GPI_COUNTER_SUCCESS_MASK}). */
  public static final long COUNTER_MASK = (1L << 56) - 1;

  private static final int SHORT_MASK = 0xffff;

  private Descriptor() {}

  /** Whether all segments have the owner bit of a lap. */
  public static boolean isOwned(long at, long lap) {
    for (int i = 0; i < SEGMENTS; i++) {
      if ((RawMemory.getLong(at + 8L * i) & 1) != (lap & 1)) {
        return false;
      }
    }
    return true;
  }

  private static long segment(long at, int number) {
    return RawMemory.getLong(at + 8L * number);
  }

  public static int operation(long at) {
    return (int) (segment(at, 0) >>> 16) & 0xff;
  }

  /** {@link #COUNTED} and {@link #WRITEBACK}. */
  public static int flags(long at) {
    return (int) (segment(at, 0) >>> 24) & 0xff;
  }

  public static int counter(long at) {
    return (int) (segment(at, 0) >>> 32) & SHORT_MASK;
  }

  public static int signal(long at) {
    return (int) (segment(at, 0) >>> 48) & SHORT_MASK;
  }

  /** The peer. */
  public static int peer(long at) {
    return (int) segment(at, 1) >>> 1;
  }

  /** Bytes. */
  public static int size(long at) {
    return (int) (segment(at, 1) >>> 32);
  }

  public static int targetHandle(long at) {
    return (int) (segment(at, 2) >>> 16) & SHORT_MASK;
  }

  public static int sourceHandle(long at) {
    return (int) (segment(at, 3) >>> 16) & SHORT_MASK;
  }

  public static long signalValue(long at) {
    return (segment(at, 3) & 0xffff_ffff_0000_0000L) | (segment(at, 2) >>> 32);
  }

  public static long targetOffset(long at) {
    return segment(at, 4) >>> 1;
  }

  public static long sourceOffset(long at) {
    return segment(at, 5) >>> 1;
  }

  public static long inlineData(long at) {
    return (segment(at, 7) & 0xffff_ffff_0000_0000L) | (segment(at, 6) >>> 32);
  }

  /** Writes a transfer between memory of this GPU and of a peer. */
  public static void writeTransfer(
      long at,
      long lap,
      int operation,
      int flags,
      int size,
      int peer,
      int sourceHandle,
      long sourceOffset,
      int targetHandle,
      long targetOffset,
      int counter,
      int signal,
      long signalValue) {
    long owner = lap & 1;
    put(at, 0, header(operation, flags, counter, signal) | owner);
    put(at, 1, (long) size << 32 | (peer & 0x7fff_ffffL) << 1 | owner);
    put(at, 2, signalValue << 32 | (long) targetHandle << 16 | owner);
    put(at, 3, (signalValue & 0xffff_ffff_0000_0000L) | (long) sourceHandle << 16 | owner);
    put(at, 4, targetOffset << 1 | owner);
    put(at, 5, sourceOffset << 1 | owner);
    put(at, 6, owner);
    put(at, 7, owner);
  }

  /** Writes a command that brings its data along, or adds it. */
  public static void writeInline(
      long at,
      long lap,
      int operation,
      int flags,
      int size,
      int peer,
      long data,
      int targetHandle,
      long targetOffset,
      int counter,
      int signal,
      long signalValue) {
    writeTransfer(
        at,
        lap,
        operation,
        flags,
        size,
        peer,
        0,
        0,
        targetHandle,
        targetOffset,
        counter,
        signal,
        signalValue);
    long owner = lap & 1;
    put(at, 6, data << 32 | owner);
    put(at, 7, (data & 0xffff_ffff_0000_0000L) | owner);
  }

  private static long header(int operation, int flags, int counter, int signal) {
    return (long) signal << 48
        | (long) (counter & SHORT_MASK) << 32
        | (long) (flags & 0xff) << 24
        | (long) (operation & 0xff) << 16;
  }

  private static void put(long at, int number, long value) {
    RawMemory.putLong(at + 8L * number, value);
  }
}
