package dev.doorbell.ptxvm;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Locale;

/** Contents of buffers for recorded launches; {@code record.py} has the same. */
final class LaunchInputs {
  enum Kind {
    I8(1),
    I16(2),
    I32(4),
    I64(8),
    I128(16),
    F16(2),
    BF16(2),
    F32(4),
    F64(8),
    M16(2),
    N16(2),
    M32(4),
    M64(8),
    C64(8);

    private final int bytes;

    Kind(int bytes) {
      this.bytes = bytes;
    }

    int bytes() {
      return bytes;
    }

    static Kind of(String name) {
      return valueOf(name.toUpperCase(Locale.ROOT));
    }
  }

  private LaunchInputs() {}

  /** SplitMix64's output for a counter. */
  private static long mix(long seed) {
    long z = seed * 0x9E3779B97F4A7C15L;
    z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
    z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
    return z ^ z >>> 31;
  }

  static byte[] random(Kind kind, int count) {
    byte[] bytes = new byte[kind.bytes() * count];
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < count; i++) {
      put(buffer, kind, element(kind, i), mix(i + 1000001L));
    }
    return bytes;
  }

  /** 1, 2, 3 ... */
  static byte[] counting(Kind kind, int count) {
    byte[] bytes = new byte[kind.bytes() * count];
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 1; i <= count; i++) {
      long bits =
          switch (kind) {
            case F16 -> Float.floatToFloat16(i);
            case BF16 -> Float.floatToRawIntBits(i) >>> 16;
            case F32 -> Float.floatToRawIntBits(i);
            case F64 -> Double.doubleToRawLongBits(i);
            default -> i;
          };
      put(buffer, kind, bits, 0);
    }
    return bytes;
  }

  private static void put(ByteBuffer buffer, Kind kind, long bits, long high) {
    switch (kind.bytes()) {
      case 1 -> buffer.put((byte) bits);
      case 2 -> buffer.putShort((short) bits);
      case 4 -> buffer.putInt((int) bits);
      case 8 -> buffer.putLong(bits);
      default -> buffer.putLong(bits).putLong(high);
    }
  }

  private static long element(Kind kind, int i) {
    long x = mix(i + 1L);
    boolean few = i % 4 == 3;
    return switch (kind) {
      case I128 -> x;
      case I8, I16, I32, I64 -> few ? Long.remainderUnsigned(x, 7) : x;
      case C64 -> x & 0x0000000F0000000FL;
      case M16 -> Float.floatToFloat16((float) moderate(x));
      case N16 -> Float.floatToRawIntBits((float) moderate(x)) >>> 16;
      case M32 -> Float.floatToRawIntBits((float) moderate(x));
      case M64 -> Double.doubleToRawLongBits(moderate(x));
      case F16 -> few ? x >>> 48 : near(x, 15, 10, 15);
      case BF16 -> few ? x >>> 48 : near(x, 15, 7, 127);
      case F32 -> few ? x >>> 32 : near(x, 31, 23, 127);
      case F64 -> few ? x : near(x, 63, 52, 1023);
    };
  }

  private static double moderate(long x) {
    return 0.125 * (1 << Long.remainderUnsigned(x, 6)) * (1 + (x >>> 8 & 0x7f) / 128.0);
  }

  private static long near(long x, int sign, int fraction, int bias) {
    return (x >>> 63 << sign)
        | ((bias - 3 + (x >>> 56) % 8) << fraction)
        | (x & ((1L << fraction) - 1));
  }

  /**
   * Returns true if two elements are the same, or close when the instructions behind are
   * approximate.
   */
  static boolean alike(Kind kind, byte[] a, byte[] b, int index, boolean roughly) {
    if (kind == Kind.I128) {
      return alike(Kind.I64, a, b, 2 * index, false) && alike(Kind.I64, a, b, 2 * index + 1, false);
    }
    if (bits(kind, a, index) == bits(kind, b, index)) {
      return true;
    }
    double x = value(kind, a, index);
    double y = value(kind, b, index);
    if (Double.isNaN(x) && Double.isNaN(y)) {
      return true;
    }
    double tolerance =
        switch (kind) {
          case F16 -> 0x1p-9;
          case BF16 -> 0x1p-6;
          case F32 -> 0x1p-16;
          default -> 0x1p-48;
        };
    return roughly && Math.abs(x - y) <= tolerance * Math.max(1, Math.abs(y));
  }

  private static long bits(Kind kind, byte[] bytes, int index) {
    ByteBuffer buffer = RecordedLaunches.little(bytes);
    return switch (kind.bytes()) {
      case 1 -> buffer.get(index);
      case 2 -> buffer.getShort(index * 2);
      case 4 -> buffer.getInt(index * 4);
      default -> buffer.getLong(index * 8);
    };
  }

  private static double value(Kind kind, byte[] bytes, int index) {
    long bits = bits(kind, bytes, index);
    return switch (kind) {
      case F16 -> Float.float16ToFloat((short) bits);
      case BF16 -> Float.intBitsToFloat((int) bits << 16);
      case F32 -> Float.intBitsToFloat((int) bits);
      case F64 -> Double.longBitsToDouble(bits);
      default -> bits;
    };
  }

  static String show(Kind kind, byte[] bytes, int index) {
    return kind == Kind.I128
        ? show(Kind.I64, bytes, 2 * index + 1) + show(Kind.I64, bytes, 2 * index)
        : "%x (%s)".formatted(bits(kind, bytes, index), value(kind, bytes, index));
  }
}
