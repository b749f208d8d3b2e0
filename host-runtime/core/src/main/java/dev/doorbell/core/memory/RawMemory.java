package dev.doorbell.core.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Raw-address access to native memory, and the only class that has it.
 *
 * <p>Nothing here checks an address: a wild one ends the JVM. Callers are ports and codecs that
 * have checked the range against {@link AddressSpace} first. Values are little-endian; formats that
 * are big-endian reverse in {@link BigEndian}. Plain access may be unaligned; access with a memory
 * order must be naturally aligned.
 */
public final class RawMemory {
  /** The whole address space; a constant, so that HotSpot folds its bounds. */
  @SuppressWarnings("restricted")
  private static final MemorySegment MEMORY = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final VarHandle BYTE_ORDERED =
      ValueLayout.JAVA_BYTE.varHandle().withInvokeExactBehavior();
  private static final VarHandle SHORT_ORDERED =
      ValueLayout.JAVA_SHORT
          .withOrder(ByteOrder.LITTLE_ENDIAN)
          .varHandle()
          .withInvokeExactBehavior();
  private static final VarHandle INT_ORDERED =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle().withInvokeExactBehavior();
  private static final VarHandle LONG_ORDERED =
      ValueLayout.JAVA_LONG
          .withOrder(ByteOrder.LITTLE_ENDIAN)
          .varHandle()
          .withInvokeExactBehavior();

  private RawMemory() {}

  /**
   * The memory that {@link #plainHandle} and {@link #orderedHandle} access, for generated code,
   * which must check addresses as every caller of this class.
   */
  public static MemorySegment memory() {
    return MEMORY;
  }

  /**
   * The memory at an address, which stays until nothing refers to any part of it.
   *
   * @param free gives it back then
   */
  @SuppressWarnings("restricted")
  static MemorySegment collected(long address, long bytes, Runnable free) {
    return MemorySegment.ofAddress(address).reinterpret(bytes, Arena.ofAuto(), gone -> free.run());
  }

  /**
   * Plain access to cells of {@code bytes} bytes, aligned or not; coordinates are {@link #memory}
   * and the address.
   */
  public static VarHandle plainHandle(int bytes) {
    return switch (bytes) {
      case Byte.BYTES -> ValueLayout.JAVA_BYTE.varHandle();
      case Short.BYTES -> SHORT.varHandle();
      case Integer.BYTES -> INT.varHandle();
      default -> LONG.varHandle();
    };
  }

  /** Access like {@link #plainHandle} with a memory order, for naturally aligned cells. */
  public static VarHandle orderedHandle(int bytes) {
    return switch (bytes) {
      case Byte.BYTES -> BYTE_ORDERED;
      case Short.BYTES -> SHORT_ORDERED;
      case Integer.BYTES -> INT_ORDERED;
      default -> LONG_ORDERED;
    };
  }

  public static byte getByte(long address) {
    return MEMORY.get(ValueLayout.JAVA_BYTE, address);
  }

  public static short getShort(long address) {
    return MEMORY.get(SHORT, address);
  }

  public static int getInt(long address) {
    return MEMORY.get(INT, address);
  }

  public static long getLong(long address) {
    return MEMORY.get(LONG, address);
  }

  public static void putByte(long address, byte value) {
    MEMORY.set(ValueLayout.JAVA_BYTE, address, value);
  }

  public static void putShort(long address, short value) {
    MEMORY.set(SHORT, address, value);
  }

  public static void putInt(long address, int value) {
    MEMORY.set(INT, address, value);
  }

  public static void putLong(long address, long value) {
    MEMORY.set(LONG, address, value);
  }

  /** Reads 1, 2, 4 or 8 bytes, zero-extended. */
  public static long get(long address, int bytes) {
    return switch (bytes) {
      case 1 -> getByte(address) & 0xffL;
      case 2 -> getShort(address) & 0xffffL;
      case 4 -> getInt(address) & 0xffff_ffffL;
      default -> getLong(address);
    };
  }

  /** Writes the low 1, 2, 4 or 8 bytes of {@code value}. */
  public static void put(long address, int bytes, long value) {
    switch (bytes) {
      case 1 -> putByte(address, (byte) value);
      case 2 -> putShort(address, (short) value);
      case 4 -> putInt(address, (int) value);
      default -> putLong(address, value);
    }
  }

  public static byte getByteOpaque(long address) {
    return (byte) BYTE_ORDERED.getOpaque(MEMORY, address);
  }

  public static short getShortOpaque(long address) {
    return (short) SHORT_ORDERED.getOpaque(MEMORY, address);
  }

  public static int getIntOpaque(long address) {
    return (int) INT_ORDERED.getOpaque(MEMORY, address);
  }

  public static long getLongOpaque(long address) {
    return (long) LONG_ORDERED.getOpaque(MEMORY, address);
  }

  public static void putByteOpaque(long address, byte value) {
    BYTE_ORDERED.setOpaque(MEMORY, address, value);
  }

  public static void putShortOpaque(long address, short value) {
    SHORT_ORDERED.setOpaque(MEMORY, address, value);
  }

  public static void putIntOpaque(long address, int value) {
    INT_ORDERED.setOpaque(MEMORY, address, value);
  }

  public static void putLongOpaque(long address, long value) {
    LONG_ORDERED.setOpaque(MEMORY, address, value);
  }

  public static byte getByteAcquire(long address) {
    return (byte) BYTE_ORDERED.getAcquire(MEMORY, address);
  }

  public static short getShortAcquire(long address) {
    return (short) SHORT_ORDERED.getAcquire(MEMORY, address);
  }

  public static int getIntAcquire(long address) {
    return (int) INT_ORDERED.getAcquire(MEMORY, address);
  }

  public static long getLongAcquire(long address) {
    return (long) LONG_ORDERED.getAcquire(MEMORY, address);
  }

  public static void putByteRelease(long address, byte value) {
    BYTE_ORDERED.setRelease(MEMORY, address, value);
  }

  public static void putShortRelease(long address, short value) {
    SHORT_ORDERED.setRelease(MEMORY, address, value);
  }

  public static void putIntRelease(long address, int value) {
    INT_ORDERED.setRelease(MEMORY, address, value);
  }

  public static void putLongRelease(long address, long value) {
    LONG_ORDERED.setRelease(MEMORY, address, value);
  }

  public static long getAndAddLong(long address, long delta) {
    return (long) LONG_ORDERED.getAndAdd(MEMORY, address, delta);
  }

  public static int getAndSetInt(long address, int value) {
    return (int) INT_ORDERED.getAndSet(MEMORY, address, value);
  }

  public static int compareAndExchangeInt(long address, int expected, int value) {
    return (int) INT_ORDERED.compareAndExchange(MEMORY, address, expected, value);
  }

  public static long compareAndExchangeLong(long address, long expected, long value) {
    return (long) LONG_ORDERED.compareAndExchange(MEMORY, address, expected, value);
  }

  /** Copies {@code bytes} bytes; the ranges may overlap. */
  public static void copy(long from, long to, long bytes) {
    MemorySegment.copy(MEMORY, from, MEMORY, to, bytes);
  }

  /** Copies native bytes into a heap or native segment. */
  public static void copyOut(long from, MemorySegment to, long toOffset, long bytes) {
    MemorySegment.copy(MEMORY, from, to, toOffset, bytes);
  }

  /** Copies bytes of a heap or native segment to native memory. */
  public static void copyIn(MemorySegment from, long fromOffset, long to, long bytes) {
    MemorySegment.copy(from, fromOffset, MEMORY, to, bytes);
  }

  /** A direct buffer over {@code bytes} bytes, big-endian; allocates the buffer object. */
  public static ByteBuffer view(long address, int bytes) {
    return MEMORY.asSlice(address, bytes).asByteBuffer();
  }

  /** Sets {@code bytes} bytes to {@code value}. */
  public static void fill(long address, long bytes, byte value) {
    MEMORY.asSlice(address, bytes).fill(value);
  }

  /** The offset of the first byte that differs, or -1. */
  public static long mismatch(long a, long b, long bytes) {
    return mismatch(a, MEMORY, b, bytes);
  }

  /** The offset of the first native byte that differs from those of a segment, or -1. */
  public static long mismatch(long address, MemorySegment other, long offset, long bytes) {
    return MemorySegment.mismatch(MEMORY, address, address + bytes, other, offset, offset + bytes);
  }
}
