package dev.doorbell.ptxvm.engine.ops.arithmetic;

import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/**
 * IEEE 754 rounding in all four directions.
 *
 * <p>Narrow formats go by <em>round to odd</em> (Boldo and Melquiond, IEEE TC 2008): an operation
 * on floats is done in double, its last bit made odd when it was inexact; rounding that to 24 bits
 * or less, in any direction, is as good as rounding the exact result.
 */
enum Rounding {
  NEAREST_EVEN("rn"),
  TOWARD_ZERO("rz"),
  DOWN("rm"),
  UP("rp");

  private final String ptx;

  Rounding(String ptx) {
    this.ptx = ptx;
  }

  String ptx() {
    return ptx;
  }

  static @Nullable Rounding of(String modifier) {
    for (Rounding rounding : values()) {
      if (rounding.ptx.equals(modifier)) {
        return rounding;
      }
    }
    return null;
  }

  double whole(double x) {
    return switch (this) {
      case NEAREST_EVEN -> Math.rint(x);
      case TOWARD_ZERO -> x < 0 ? Math.ceil(x) : Math.floor(x);
      case DOWN -> Math.floor(x);
      case UP -> Math.ceil(x);
    };
  }

  float single(double x) {
    float f = (float) x;
    if (Double.isNaN(x) || (double) f == x || this == NEAREST_EVEN) {
      return f;
    }
    return switch (this) {
      case DOWN -> f > x ? Math.nextDown(f) : f;
      case UP -> f < x ? Math.nextUp(f) : f;
      default -> Math.abs((double) f) > Math.abs(x) ? Math.nextAfter(f, 0.0) : f;
    };
  }

  /** Moves {@code nearest}, the f64 next to {@code exact}, to the side that this asks for. */
  double real(double nearest, BigDecimal exact) {
    if (this == NEAREST_EVEN || Double.isNaN(nearest)) {
      return nearest;
    }
    int side;
    if (Double.isInfinite(nearest)) {
      side = nearest > 0 ? 1 : -1;
    } else {
      side = new BigDecimal(nearest).compareTo(exact);
    }
    return switch (this) {
      case DOWN -> side > 0 ? Math.nextDown(nearest) : nearest;
      case UP -> side < 0 ? Math.nextUp(nearest) : nearest;
      default ->
          side != 0 && (side > 0) == (exact.signum() > 0) ? Math.nextAfter(nearest, 0.0) : nearest;
    };
  }

  static double oddSum(double a, double b) {
    double sum = a + b;
    double virtual = sum - a;
    return odd(sum, a - (sum - virtual) + (b - virtual));
  }

  /** {@code a * b + c} of floats; the product is exact. */
  static double oddFma(double a, double b, double c) {
    return oddSum(a * b, c);
  }

  static double oddQuotient(double a, double b) {
    double quotient = a / b;
    double rest = Math.fma(-quotient, b, a);
    return odd(quotient, b < 0 ? -rest : rest);
  }

  static double oddRoot(double a) {
    double root = Math.sqrt(a);
    return odd(root, Math.fma(-root, root, a));
  }

  static double oddLong(long value) {
    long magnitude = Math.abs(value);
    if (magnitude >= 0 && magnitude < 1L << 53) {
      return value;
    }
    double result = oddUnsigned(magnitude);
    return value < 0 ? -result : result;
  }

  static double oddUnsigned(long value) {
    if (value >= 0 && value < 1L << 53) {
      return value;
    }
    boolean sticky = (value & 0x7ff) != 0;
    long upper = value >>> 11 | (sticky ? 1 : 0);
    return upper * 0x1p11;
  }

  /** Makes the last bit of an inexact result odd. */
  private static double odd(double result, double error) {
    if (error == 0 || Double.isNaN(error) || !Double.isFinite(result)) {
      return result;
    }
    long bits = Double.doubleToRawLongBits(result);
    if ((bits & 1) != 0) {
      return result;
    }
    return error > 0 ? Math.nextUp(result) : Math.nextDown(result);
  }
}
