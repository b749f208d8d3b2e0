package dev.doorbell.experiments.config.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Locale;

/** Types of a kernel's own numbers, little-endian in memory. */
public enum NumberType {
  U32(Integer.BYTES, false),
  U64(Long.BYTES, false),
  F32(Float.BYTES, true),
  F64(Double.BYTES, true);

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final int bytes;
  private final boolean decimal;

  NumberType(int bytes, boolean decimal) {
    this.bytes = bytes;
    this.decimal = decimal;
  }

  /** The type of a word such as {@code u32}. */
  public static NumberType of(String word) {
    return valueOf(word.toUpperCase(Locale.ROOT));
  }

  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  public int bytes() {
    return bytes;
  }

  public boolean decimal() {
    return decimal;
  }

  /** The bits of a value of this type, in the low bytes. */
  public long bits(double value) {
    return switch (this) {
      case U32 -> (long) value & 0xFFFFFFFFL;
      case U64 -> (long) value;
      case F32 -> Integer.toUnsignedLong(Float.floatToRawIntBits((float) value));
      case F64 -> Double.doubleToRawLongBits(value);
    };
  }

  /** The bits of a whole value of this type, in the low bytes. */
  public long bits(long value) {
    return decimal ? bits((double) value) : this == U32 ? value & 0xFFFFFFFFL : value;
  }

  /** The value of bits, whole numbers of 64 bits rounded to 53. */
  public double real(long bits) {
    return switch (this) {
      case U32 -> bits;
      case U64 -> bits < 0 ? bits + 0x1p64 : bits;
      case F32 -> Float.intBitsToFloat((int) bits);
      case F64 -> Double.longBitsToDouble(bits);
    };
  }

  /** The value of bits as a whole number. */
  public long whole(long bits) {
    return decimal ? (long) real(bits) : bits;
  }

  /** The bits of the number at an index. */
  public long get(MemorySegment numbers, long index) {
    return bytes == Long.BYTES
        ? numbers.get(LONG, index * bytes)
        : Integer.toUnsignedLong(numbers.get(INT, index * bytes));
  }

  /** Stores bits as the number at an index. */
  public void set(MemorySegment numbers, long index, long bits) {
    if (bytes == Long.BYTES) {
      numbers.set(LONG, index * bytes, bits);
    } else {
      numbers.set(INT, index * bytes, (int) bits);
    }
  }

  /** A number as messages show it. */
  public String text(long bits) {
    return decimal ? Double.toString(real(bits)) : Long.toUnsignedString(bits);
  }
}
