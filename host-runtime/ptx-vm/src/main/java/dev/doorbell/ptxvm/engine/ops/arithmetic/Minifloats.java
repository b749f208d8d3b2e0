package dev.doorbell.ptxvm.engine.ops.arithmetic;

import dev.doorbell.ptxvm.engine.decode.Assembler;
import dev.doorbell.ptxvm.engine.decode.Assembler.Unsupported;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.BinaryOp;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.UnaryOp;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.ScalarType;

/**
 * Conversions of pairs of 8-bit floats, e4m3 and e5m2 (OCP 8-bit Floating Point Specification; PTX
 * ISA, {@code cvt}). Into them always to nearest even and saturating; out of them exact.
 */
final class Minifloats {
  /** e4m3 has no infinity: all ones is NaN. */
  private record Format(int fraction, int leastExponent, double largest, int nan) {
    static final Format E4M3 = new Format(3, -6, 448, 0x7f);
    static final Format E5M2 = new Format(2, -14, 57344, 0x7f);

    /** Rounds to nearest even; what is too large becomes the largest, a NaN stays one. */
    int encode(double value, boolean relu) {
      if (Double.isNaN(value)) {
        return nan;
      }
      int sign = Double.doubleToRawLongBits(value) < 0 ? 0x80 : 0;
      if (relu && sign != 0) {
        return 0;
      }
      double magnitude = Math.abs(value);
      if (magnitude >= largest) {
        return sign | bits(largest);
      }
      int quantum = Math.max(Math.getExponent(magnitude), leastExponent) - fraction;
      double rounded = Math.scalb(Math.rint(Math.scalb(magnitude, -quantum)), quantum);
      return sign | bits(Math.min(rounded, largest));
    }

    private int bits(double magnitude) {
      int exponent = Math.max(Math.getExponent(magnitude), leastExponent);
      int significand = (int) Math.scalb(magnitude, fraction - exponent);
      int implicit = 1 << fraction;
      return significand < implicit
          ? significand
          : (exponent - leastExponent + 1) << fraction | (significand - implicit);
    }

    double decode(int bits) {
      int exponent = (bits & 0x7f) >>> fraction;
      int significand = bits & ((1 << fraction) - 1);
      double magnitude;
      if (fraction == 2 && exponent == 31) {
        magnitude = significand == 0 ? Double.POSITIVE_INFINITY : Double.NaN;
      } else if (fraction == 3 && (bits & 0x7f) == nan) {
        magnitude = Double.NaN;
      } else if (exponent == 0) {
        magnitude = Math.scalb((double) significand, leastExponent - fraction);
      } else {
        magnitude =
            Math.scalb(
                (double) (significand | 1 << fraction), exponent - 1 + leastExponent - fraction);
      }
      return (bits & 0x80) != 0 ? -magnitude : magnitude;
    }
  }

  private Minifloats() {}

  public static Op convert(Instruction i, Assembler a) throws Unsupported {
    int size = i.modifiers().size();
    String to = i.modifiers().get(size - 2);
    String from = i.modifiers().get(size - 1);
    boolean relu = i.has("relu");
    for (String modifier : i.modifiers().subList(0, size - 2)) {
      if (!modifier.equals("rn") && !modifier.equals("satfinite") && !modifier.equals("relu")) {
        throw new Unsupported("modifier ." + modifier + " is not supported");
      }
    }
    int d = a.result(i.operands().getFirst());
    if (to.equals("f16x2")) {
      Format format = format(from);
      return UnaryOp.of(
          i.opcode(),
          x -> widen(format, (int) x, relu) | widen(format, (int) x >>> 8, relu) << 16,
          d,
          a.source(i.operands().get(1), ScalarType.B16));
    }
    Format format = format(to);
    return switch (from) {
      case "f32" ->
          BinaryOp.of(
              i.opcode(),
              (high, low) ->
                  (long) format.encode(FloatRows.single(high), relu) << 8
                      | format.encode(FloatRows.single(low), relu),
              d,
              a.source(i.operands().get(1), ScalarType.F32),
              a.source(i.operands().get(2), ScalarType.F32));
      case "f16x2" ->
          UnaryOp.of(
              i.opcode(),
              x ->
                  (long) format.encode(HalfRows.value(ScalarType.F16, x >>> 16), relu) << 8
                      | format.encode(HalfRows.value(ScalarType.F16, x), relu),
              d,
              a.source(i.operands().get(1), ScalarType.B32));
      default -> throw new Unsupported("type not supported");
    };
  }

  private static long widen(Format format, int bits, boolean relu) {
    double value = format.decode(bits & 0xff);
    boolean zero = relu && (bits & 0x80) != 0 && !Double.isNaN(value);
    return HalfRows.round(ScalarType.F16, (float) (zero ? 0 : value));
  }

  private static Format format(String name) throws Unsupported {
    return switch (name) {
      case "e4m3x2" -> Format.E4M3;
      case "e5m2x2" -> Format.E5M2;
      default -> throw new Unsupported("type not supported");
    };
  }
}
