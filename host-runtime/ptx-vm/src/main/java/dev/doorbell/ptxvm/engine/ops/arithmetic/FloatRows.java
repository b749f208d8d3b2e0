package dev.doorbell.ptxvm.engine.ops.arithmetic;

import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.LongTernaryOperator;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;

/**
 * f32 and f64 arithmetic (PTX ISA, "Floating Point Instructions"). Names stand without {@code .rn},
 * which is what no rounding modifier means, and without {@code .ftz} and {@code .sat}, which wrap.
 * A NaN result of f32 is the canonical one, as on GPUs. {@code .approx} is computed in double and
 * rounded once: within every documented error.
 */
public final class FloatRows {
  private static final long CANONICAL_NAN = 0x7fffffffL;
  private static final long LOW = 0xffffffffL;
  private static final MathContext WIDE = new MathContext(60);

  private FloatRows() {}

  public static void addTo(Rows rows) {
    single(rows);
    approximate(rows);
    real(rows);
    for (Rounding rounding : Rounding.values()) {
      if (rounding != Rounding.NEAREST_EVEN) {
        directedSingle(rows, rounding);
        directedReal(rows, rounding);
      }
    }
  }

  private static void single(Rows rows) {
    rows.binary("add.f32", (a, b) -> bits(single(a) + single(b)))
        .binary("sub.f32", (a, b) -> bits(single(a) - single(b)))
        .binary("mul.f32", (a, b) -> bits(single(a) * single(b)))
        .binary("div.f32", (a, b) -> bits(single(a) / single(b)))
        .ternary("fma.f32 mad.f32", (a, b, c) -> bits(Math.fma(single(a), single(b), single(c))))
        .unary("sqrt.f32", a -> bits((float) Math.sqrt(single(a))))
        .unary("rcp.f32", a -> bits(1 / single(a)))
        .unary("neg.f32", a -> a ^ 0x80000000L)
        .unary("abs.f32", a -> a & 0x7fffffffL)
        .binary("min.f32", (a, b) -> bits(least(single(a), single(b))))
        .binary("max.f32", (a, b) -> bits(-least(-single(a), -single(b))))
        .binary("min.NaN.f32", (a, b) -> bits(Math.min(single(a), single(b))))
        .binary("max.NaN.f32", (a, b) -> bits(Math.max(single(a), single(b))))
        .binary("copysign.f32", (a, b) -> (a & 0x80000000L) | (b & 0x7fffffffL))
        .unary("testp.finite.f32", a -> Float.isFinite(single(a)) ? 1 : 0)
        .unary("testp.infinite.f32", a -> Float.isInfinite(single(a)) ? 1 : 0)
        .unary("testp.number.f32", a -> Float.isNaN(single(a)) ? 0 : 1)
        .unary("testp.notanumber.f32", a -> Float.isNaN(single(a)) ? 1 : 0)
        .unary("testp.normal.f32", a -> isNormal(single(a)) ? 1 : 0)
        .unary("testp.subnormal.f32", a -> isSubnormal(single(a)) ? 1 : 0);
  }

  private static void approximate(Rows rows) {
    rows.binary("div.full.f32 div.approx.f32", (a, b) -> bits(single(a) / single(b)))
        .unary("rcp.approx.f32", a -> bits(1 / single(a)))
        .unary("sqrt.approx.f32", a -> bits((float) Math.sqrt(single(a))))
        .unary("rsqrt.approx.f32", a -> bits((float) (1 / Math.sqrt(single(a)))))
        .unary("sin.approx.f32", a -> bits((float) Math.sin(single(a))))
        .unary("cos.approx.f32", a -> bits((float) Math.cos(single(a))))
        .unary("lg2.approx.f32", a -> bits((float) (Math.log(single(a)) / Math.log(2))))
        .unary("ex2.approx.f32", a -> bits((float) Math.pow(2, single(a))))
        .unary("tanh.approx.f32", a -> bits((float) Math.tanh(single(a))))
        .unary("rcp.approx.f64", a -> coarse(1 / real(coarse(real(a)))))
        .unary("rsqrt.approx.f64", a -> bits(1 / Math.sqrt(real(a))))
        .unary("rsqrt.approx.ftz.f64", a -> coarse(1 / Math.sqrt(real(coarse(real(a))))));
  }

  private static void real(Rows rows) {
    rows.binary("add.f64", (a, b) -> bits(real(a) + real(b)))
        .binary("sub.f64", (a, b) -> bits(real(a) - real(b)))
        .binary("mul.f64", (a, b) -> bits(real(a) * real(b)))
        .binary("div.f64", (a, b) -> bits(real(a) / real(b)))
        .ternary("fma.f64 mad.f64", (a, b, c) -> bits(Math.fma(real(a), real(b), real(c))))
        .unary("sqrt.f64", a -> bits(Math.sqrt(real(a))))
        .unary("rcp.f64", a -> bits(1 / real(a)))
        .unary("neg.f64", a -> a ^ Long.MIN_VALUE)
        .unary("abs.f64", a -> a & Long.MAX_VALUE)
        .binary("min.f64", (a, b) -> bits(least(real(a), real(b))))
        .binary("max.f64", (a, b) -> bits(-least(-real(a), -real(b))))
        .binary("copysign.f64", (a, b) -> (a & Long.MIN_VALUE) | (b & Long.MAX_VALUE))
        .unary("testp.finite.f64", a -> Double.isFinite(real(a)) ? 1 : 0)
        .unary("testp.infinite.f64", a -> Double.isInfinite(real(a)) ? 1 : 0)
        .unary("testp.number.f64", a -> Double.isNaN(real(a)) ? 0 : 1)
        .unary("testp.notanumber.f64", a -> Double.isNaN(real(a)) ? 1 : 0)
        .unary(
            "testp.normal.f64",
            a -> Double.isFinite(real(a)) && Math.abs(real(a)) >= Double.MIN_NORMAL ? 1 : 0)
        .unary(
            "testp.subnormal.f64",
            a -> real(a) != 0 && Math.abs(real(a)) < Double.MIN_NORMAL ? 1 : 0);
  }

  private static void directedSingle(Rows rows, Rounding to) {
    String suffix = "." + to.ptx() + ".f32";
    rows.binary("add" + suffix, (a, b) -> sum(single(a), single(b), to))
        .binary("sub" + suffix, (a, b) -> sum(single(a), -single(b), to))
        .binary("mul" + suffix, (a, b) -> bits(to.single((double) single(a) * single(b))))
        .binary(
            "div" + suffix, (a, b) -> bits(to.single(Rounding.oddQuotient(single(a), single(b)))))
        .ternary("fma" + suffix, (a, b, c) -> fma(single(a), single(b), single(c), to))
        .ternary("mad" + suffix, (a, b, c) -> fma(single(a), single(b), single(c), to))
        .unary("sqrt" + suffix, a -> bits(to.single(Rounding.oddRoot(single(a)))))
        .unary("rcp" + suffix, a -> bits(to.single(Rounding.oddQuotient(1, single(a)))));
  }

  private static long sum(float a, float b, Rounding to) {
    float result = to.single(Rounding.oddSum(a, b));
    return bits(result == 0 ? zeroSum(a, b, result, to) : result);
  }

  private static long fma(float a, float b, float c, Rounding to) {
    float result = to.single(Rounding.oddFma(a, b, c));
    return bits(result == 0 ? zeroSum(a * (double) b, c, result, to) : result);
  }

  /** A sum that cancels is -0 when rounding down, unless both are +0. */
  private static float zeroSum(double a, double b, float result, Rounding to) {
    return to == Rounding.DOWN && a == -b && (a != 0 || 1 / a != 1 / b) ? -0.0f : result;
  }

  private static void directedReal(Rows rows, Rounding to) {
    String suffix = "." + to.ptx() + ".f64";
    rows.binary("add" + suffix, (a, b) -> directedSum(real(a), real(b), to))
        .binary("sub" + suffix, (a, b) -> directedSum(real(a), -real(b), to))
        .binary("mul" + suffix, (a, b) -> directedProduct(real(a), real(b), to))
        .ternary("fma" + suffix, (a, b, c) -> directedFma(real(a), real(b), real(c), to))
        .ternary("mad" + suffix, (a, b, c) -> directedFma(real(a), real(b), real(c), to))
        .binary("div" + suffix, (a, b) -> directedQuotient(real(a), real(b), to))
        .unary("rcp" + suffix, a -> directedQuotient(1, real(a), to))
        .unary("sqrt" + suffix, a -> directedRoot(real(a), to));
  }

  private static long directedSum(double a, double b, Rounding to) {
    double nearest = a + b;
    if (!Double.isFinite(a) || !Double.isFinite(b)) {
      return bits(nearest);
    }
    if (nearest == 0) {
      boolean cancels = a != 0 || 1 / a != 1 / b;
      return bits(to == Rounding.DOWN && cancels ? -0.0 : nearest);
    }
    return bits(to.real(nearest, new BigDecimal(a).add(new BigDecimal(b))));
  }

  private static long directedProduct(double a, double b, Rounding to) {
    double nearest = a * b;
    if (!Double.isFinite(a) || !Double.isFinite(b) || a == 0 || b == 0) {
      return bits(nearest);
    }
    return bits(to.real(nearest, new BigDecimal(a).multiply(new BigDecimal(b))));
  }

  private static long directedFma(double a, double b, double c, Rounding to) {
    double nearest = Math.fma(a, b, c);
    if (!Double.isFinite(a) || !Double.isFinite(b) || !Double.isFinite(c)) {
      return bits(nearest);
    }
    BigDecimal exact = new BigDecimal(a).multiply(new BigDecimal(b)).add(new BigDecimal(c));
    if (exact.signum() == 0) {
      boolean cancels = c != 0 || 1 / (a * b) != 1 / c;
      return bits(to == Rounding.DOWN && cancels ? -0.0 : nearest);
    }
    return bits(to.real(nearest, exact));
  }

  private static long directedQuotient(double a, double b, Rounding to) {
    double nearest = a / b;
    if (!Double.isFinite(a) || !Double.isFinite(b) || a == 0 || b == 0) {
      return bits(nearest);
    }
    return bits(
        to.real(nearest, new BigDecimal(a).divide(new BigDecimal(b), new MathContext(900))));
  }

  private static long directedRoot(double a, Rounding to) {
    double nearest = Math.sqrt(a);
    if (!Double.isFinite(a) || a <= 0) {
      return bits(nearest);
    }
    return bits(to.real(nearest, new BigDecimal(a).sqrt(WIDE)));
  }

  /** The smaller; a number wins over NaN, -0 over +0. */
  private static float least(float a, float b) {
    return Float.isNaN(a) ? b : Float.isNaN(b) ? a : Math.min(a, b);
  }

  private static double least(double a, double b) {
    return Double.isNaN(a) ? b : Double.isNaN(b) ? a : Math.min(a, b);
  }

  private static boolean isNormal(float value) {
    return Float.isFinite(value) && Math.abs(value) >= Float.MIN_NORMAL;
  }

  private static boolean isSubnormal(float value) {
    return value != 0 && Math.abs(value) < Float.MIN_NORMAL;
  }

  /** The upper half of an f64, subnormals flushed: all that {@code .approx.ftz.f64} looks at. */
  private static long coarse(double value) {
    if (Double.isNaN(value)) {
      return 0x7fffffff00000000L;
    }
    long upper = bits(value) & 0xffffffff00000000L;
    return (upper & 0x7ff0000000000000L) == 0 ? upper & Long.MIN_VALUE : upper;
  }

  /** {@code .f32x2}: a row of f32 on both halves of 64 bits. */
  public static Rows.Row inPairs(Rows.Row row) {
    return switch (row) {
      case Rows.One(LongUnaryOperator f) ->
          new Rows.One(a -> f.applyAsLong(a & LOW) | f.applyAsLong(a >>> 32) << 32);
      case Rows.Two(LongBinaryOperator f) ->
          new Rows.Two(
              (a, b) -> f.applyAsLong(a & LOW, b & LOW) | f.applyAsLong(a >>> 32, b >>> 32) << 32);
      case Rows.Three(LongTernaryOperator f) ->
          new Rows.Three(
              (a, b, c) ->
                  f.apply(a & LOW, b & LOW, c & LOW) | f.apply(a >>> 32, b >>> 32, c >>> 32) << 32);
    };
  }

  /** {@code .ftz}: a subnormal f32 becomes zero of its sign. */
  public static long flush(long bits) {
    return (bits & 0x7f800000L) == 0 ? bits & 0x80000000L : bits;
  }

  /** {@code .sat} of f32: into [0, 1], NaN to 0. */
  public static long saturateSingle(long bits) {
    float value = single(bits);
    return value > 0 ? bits(Math.min(value, 1)) : 0;
  }

  /** {@code .sat} of f64. */
  public static long saturateReal(long bits) {
    double value = real(bits);
    return value > 0 ? bits(Math.min(value, 1)) : 0;
  }

  static float single(long bits) {
    return Float.intBitsToFloat((int) bits);
  }

  static double real(long bits) {
    return Double.longBitsToDouble(bits);
  }

  static long bits(float value) {
    return Float.isNaN(value) ? CANONICAL_NAN : Float.floatToRawIntBits(value) & 0xffffffffL;
  }

  static long bits(double value) {
    return Double.doubleToRawLongBits(value);
  }
}
