package dev.doorbell.ptxvm.engine.ops.arithmetic;

import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.LongTernaryOperator;
import dev.doorbell.ptxvm.ir.ScalarType;
import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;

/**
 * f16 and bf16 arithmetic, alone and in pairs. Sums, products and quotients of such operands are
 * computed in f32 and rounded again: f32 has more than twice their precision plus two bits, so the
 * second rounding changes nothing. A fused multiply-add goes by round to odd.
 */
public final class HalfRows {
  private static final long NAN = 0x7fff;

  private HalfRows() {}

  public static void addTo(Rows rows) {
    for (ScalarType type : new ScalarType[] {ScalarType.F16, ScalarType.BF16}) {
      addAll(rows, type);
    }
  }

  private static void addAll(Rows rows, ScalarType type) {
    binary(rows, type, "add", (a, b) -> round(type, value(type, a) + value(type, b)));
    binary(rows, type, "sub", (a, b) -> round(type, value(type, a) - value(type, b)));
    binary(rows, type, "mul", (a, b) -> round(type, value(type, a) * value(type, b)));
    binary(rows, type, "min", extreme(type, false));
    binary(rows, type, "max", extreme(type, true));
    binary(rows, type, "min.NaN", (a, b) -> least(type, a, b, true));
    binary(rows, type, "max.NaN", (a, b) -> greatestOrNan(type, a, b));
    unary(rows, type, "neg", a -> isNan(type, a) ? NAN : a ^ 0x8000);
    unary(rows, type, "abs", a -> isNan(type, a) ? NAN : a & 0x7fff);
    unary(rows, type, "ex2.approx", a -> round(type, (float) Math.pow(2, value(type, a))));
    unary(rows, type, "tanh.approx", a -> round(type, (float) Math.tanh(value(type, a))));
    ternary(rows, type, "fma", (a, b, c) -> fma(type, a, b, c));
    ternary(rows, type, "fma.relu", (a, b, c) -> relu(fma(type, a, b, c)));
  }

  private static void unary(Rows rows, ScalarType type, String name, LongUnaryOperator f) {
    rows.unary(name + "." + type.ptx(), f);
    rows.unary(
        name + "." + type.ptx() + "x2",
        a -> f.applyAsLong(a & 0xffff) | f.applyAsLong(a >>> 16 & 0xffff) << 16);
  }

  private static void binary(Rows rows, ScalarType type, String name, LongBinaryOperator f) {
    rows.binary(name + "." + type.ptx(), f);
    rows.binary(
        name + "." + type.ptx() + "x2",
        (a, b) ->
            f.applyAsLong(a & 0xffff, b & 0xffff)
                | f.applyAsLong(a >>> 16 & 0xffff, b >>> 16 & 0xffff) << 16);
  }

  private static void ternary(Rows rows, ScalarType type, String name, LongTernaryOperator f) {
    rows.ternary(name + "." + type.ptx(), f);
    rows.ternary(
        name + "." + type.ptx() + "x2",
        (a, b, c) ->
            f.apply(a & 0xffff, b & 0xffff, c & 0xffff)
                | f.apply(a >>> 16 & 0xffff, b >>> 16 & 0xffff, c >>> 16 & 0xffff) << 16);
  }

  /** {@code add.f32.bf16} and the like: a row of f32 whose sources but the last are halves. */
  public static Rows.Row mixed(Rows.Row row, ScalarType type) {
    return switch (row) {
      case Rows.One one -> one;
      case Rows.Two(LongBinaryOperator f) ->
          new Rows.Two((a, b) -> f.applyAsLong(single(type, a), b));
      case Rows.Three(LongTernaryOperator f) ->
          new Rows.Three((a, b, c) -> f.apply(single(type, a), single(type, b), c));
    };
  }

  private static long single(ScalarType type, long bits) {
    return FloatRows.bits(value(type, bits));
  }

  private static boolean isNan(ScalarType type, long bits) {
    return Float.isNaN(value(type, bits));
  }

  private static long fma(ScalarType type, long a, long b, long c) {
    double exact = Rounding.oddFma(value(type, a), value(type, b), value(type, c));
    return round(type, exact, Rounding.NEAREST_EVEN);
  }

  /** {@code .ftz}: a subnormal becomes zero of its sign, in each half of a pair. */
  public static long flush(ScalarType type, long bits) {
    boolean pair = type.family() == ScalarType.Family.PACKED;
    return flushOne(type, bits & 0xffff) | (pair ? flushOne(type, bits >>> 16) << 16 : 0);
  }

  private static long flushOne(ScalarType type, long bits) {
    long exponent = type == ScalarType.BF16 || type == ScalarType.BF16X2 ? 0x7f80 : 0x7c00;
    return (bits & exponent) == 0 ? bits & 0x8000 : bits;
  }

  /** {@code .sat}: into [0, 1], NaN to 0, in each half of a pair. */
  public static long saturate(ScalarType type, long bits) {
    ScalarType half = half(type);
    long low = saturateOne(half, bits & 0xffff);
    return half == type ? low : low | saturateOne(half, bits >>> 16 & 0xffff) << 16;
  }

  private static long saturateOne(ScalarType type, long bits) {
    float value = value(type, bits);
    return value > 0 ? round(type, Math.min(value, 1)) : 0;
  }

  /** The type of one element of a pair. */
  public static ScalarType half(ScalarType type) {
    return switch (type) {
      case F16X2 -> ScalarType.F16;
      case BF16X2 -> ScalarType.BF16;
      default -> type;
    };
  }

  private static long relu(long bits) {
    boolean nan = (bits & 0x7fff) == NAN;
    return !nan && (bits & 0x8000) != 0 ? 0 : bits;
  }

  private static long least(ScalarType type, long a, long b, boolean nanWins) {
    float x = value(type, a);
    float y = value(type, b);
    if (Float.isNaN(x) || Float.isNaN(y)) {
      if (nanWins || (Float.isNaN(x) && Float.isNaN(y))) {
        return NAN;
      }
      return Float.isNaN(x) ? b & 0xffff : a & 0xffff;
    }
    return (Float.compare(x, y) <= 0 ? a : b) & 0xffff;
  }

  /** The smaller or the larger of two; of a number and NaN the number. */
  public static LongBinaryOperator extreme(ScalarType type, boolean largest) {
    long flip = largest ? 0x8000 : 0;
    return (a, b) -> least(type, a ^ flip, b ^ flip, false) ^ flip;
  }

  private static long greatestOrNan(ScalarType type, long a, long b) {
    float x = value(type, a);
    float y = value(type, b);
    if (Float.isNaN(x) || Float.isNaN(y)) {
      return NAN;
    }
    return (Float.compare(x, y) >= 0 ? a : b) & 0xffff;
  }

  /** The value of 16 bits; exact. */
  static float value(ScalarType type, long bits) {
    return type == ScalarType.F16
        ? Float.float16ToFloat((short) bits)
        : Float.intBitsToFloat((int) bits << 16);
  }

  /** The f32 bits of a 16-bit value. */
  public static long widen(ScalarType type, long bits) {
    return Float.floatToRawIntBits(value(type, bits)) & 0xffffffffL;
  }

  /** Rounds to nearest even. */
  public static long round(ScalarType type, float value) {
    if (Float.isNaN(value)) {
      return NAN;
    }
    if (type == ScalarType.F16) {
      return Float.floatToFloat16(value) & 0xffffL;
    }
    int bits = Float.floatToRawIntBits(value);
    return (bits + 0x7fff + (bits >>> 16 & 1)) >>> 16 & 0xffffL;
  }

  /** Rounds in any direction. */
  public static long round(ScalarType type, double value, Rounding to) {
    if (Double.isNaN(value)) {
      return NAN;
    }
    int fraction = type == ScalarType.F16 ? 10 : 7;
    int least = type == ScalarType.F16 ? -14 : -126;
    double largest = type == ScalarType.F16 ? 65504 : 0x1.fep127;
    double rounded = value;
    if (Double.isFinite(value) && value != 0) {
      int quantum = Math.max(Math.getExponent(value), least) - fraction;
      rounded = Math.scalb(to.whole(Math.scalb(value, -quantum)), quantum);
      rounded = Math.copySign(rounded, value);
      if (Math.abs(rounded) > largest) {
        boolean toInfinity =
            to == Rounding.NEAREST_EVEN || (to == Rounding.UP ? value > 0 : value < 0);
        rounded =
            toInfinity && to != Rounding.TOWARD_ZERO
                ? Math.copySign(Double.POSITIVE_INFINITY, value)
                : Math.copySign(largest, value);
      }
    }
    // Now the value is one of the format's; f32 holds all of them, so this is exact.
    return round(type, (float) rounded);
  }
}
