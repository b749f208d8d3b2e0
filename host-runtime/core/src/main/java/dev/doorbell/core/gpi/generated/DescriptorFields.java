package dev.doorbell.core.gpi.generated;

import dev.doorbell.core.memory.RawMemory;
import javax.annotation.processing.Generated;

/**
 * A command of a GPU to a NIC: {@code gpi_gfd_t}. Eight segments of eight bytes, each with the
 * owner bit, so that they may arrive in any order: the descriptor is there when all eight have the
 * owner of this lap, which is {@code index >> log2(depth)} and so 0 in the first.
 *
 * <p>Written by FormatsTest from src/main/formats/gpi.txt.
 */
@Generated("FormatsTest")
public class DescriptorFields {
  /** Bytes of the structure. */
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

  protected DescriptorFields() {}

  /** Owner bit. */
  public static int owner0(long at) {
    return (int) (RawMemory.getLong(at)) & 0x1;
  }

  /** Operation. */
  public static int operation(long at) {
    return (int) (RawMemory.getLong(at) >>> 16) & 0xff;
  }

  /** {@link #COUNTED} and {@link #WRITEBACK}. */
  public static int flags(long at) {
    return (int) (RawMemory.getLong(at) >>> 24) & 0xff;
  }

  /** Number of the counter. */
  public static int counter(long at) {
    return (int) (RawMemory.getLong(at) >>> 32) & 0xffff;
  }

  /** Number of the signal. */
  public static int signal(long at) {
    return (int) (RawMemory.getLong(at) >>> 48);
  }

  /** Owner bit. */
  public static int owner1(long at) {
    return (int) (RawMemory.getLong(at + 0x08)) & 0x1;
  }

  /** The peer. */
  public static int peer(long at) {
    return (int) (RawMemory.getLong(at + 0x08) >>> 1) & 0x7fffffff;
  }

  /** Bytes. */
  public static int size(long at) {
    return (int) (RawMemory.getLong(at + 0x08) >>> 32);
  }

  /** Owner bit. */
  public static int owner2(long at) {
    return (int) (RawMemory.getLong(at + 0x10)) & 0x1;
  }

  /** Handle of the target. */
  public static int targetHandle(long at) {
    return (int) (RawMemory.getLong(at + 0x10) >>> 16) & 0xffff;
  }

  /** Value of the signal, low half. */
  public static int signalLow(long at) {
    return (int) (RawMemory.getLong(at + 0x10) >>> 32);
  }

  /** Owner bit. */
  public static int owner3(long at) {
    return (int) (RawMemory.getLong(at + 0x18)) & 0x1;
  }

  /** Handle of the source. */
  public static int sourceHandle(long at) {
    return (int) (RawMemory.getLong(at + 0x18) >>> 16) & 0xffff;
  }

  /** Value of the signal, high half. */
  public static int signalHigh(long at) {
    return (int) (RawMemory.getLong(at + 0x18) >>> 32);
  }

  /** Owner bit. */
  public static int owner4(long at) {
    return (int) (RawMemory.getLong(at + 0x20)) & 0x1;
  }

  /** Offset in the target. */
  public static long targetOffset(long at) {
    return RawMemory.getLong(at + 0x20) >>> 1;
  }

  /** Owner bit. */
  public static int owner5(long at) {
    return (int) (RawMemory.getLong(at + 0x28)) & 0x1;
  }

  /** Offset in the source. */
  public static long sourceOffset(long at) {
    return RawMemory.getLong(at + 0x28) >>> 1;
  }

  /** Owner bit. */
  public static int owner6(long at) {
    return (int) (RawMemory.getLong(at + 0x30)) & 0x1;
  }

  /** Inline data, low half. */
  public static int inlineLow(long at) {
    return (int) (RawMemory.getLong(at + 0x30) >>> 32);
  }

  /** Owner bit. */
  public static int owner7(long at) {
    return (int) (RawMemory.getLong(at + 0x38)) & 0x1;
  }

  /** Inline data, high half. */
  public static int inlineHigh(long at) {
    return (int) (RawMemory.getLong(at + 0x38) >>> 32);
  }
}
