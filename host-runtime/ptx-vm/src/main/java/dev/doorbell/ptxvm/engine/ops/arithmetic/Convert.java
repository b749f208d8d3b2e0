package dev.doorbell.ptxvm.engine.ops.arithmetic;

import dev.doorbell.ptxvm.engine.decode.Assembler;
import dev.doorbell.ptxvm.engine.decode.Assembler.Unsupported;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.BinaryOp;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.TernaryOp;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.UnaryOp;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.ScalarType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/** {@code cvt}: between integers and floats of all widths (PTX ISA, {@code cvt}). */
public final class Convert {
  private Convert() {}

  private record Mode(
      ScalarType to,
      ScalarType from,
      @Nullable Rounding rounding,
      @Nullable Rounding whole,
      boolean saturate,
      boolean flush,
      boolean relu) {

    static Mode of(Instruction i) throws Unsupported {
      int size = i.modifiers().size();
      ScalarType to = size < 2 ? null : ScalarType.of(i.modifiers().get(size - 2));
      ScalarType from = size < 2 ? null : ScalarType.of(i.modifiers().get(size - 1));
      if (to == null || from == null) {
        throw new Unsupported("type not supported");
      }
      Rounding rounding = null;
      Rounding whole = null;
      boolean saturate = false;
      boolean flush = false;
      boolean relu = false;
      for (String modifier : i.modifiers().subList(0, size - 2)) {
        switch (modifier) {
          case "rn", "rz", "rm", "rp" -> rounding = Rounding.of(modifier);
          case "rni", "rzi", "rmi", "rpi" -> whole = Rounding.of(modifier.substring(0, 2));
          case "sat" -> saturate = true;
          case "ftz" -> flush = true;
          case "relu" -> relu = true;
          default -> throw new Unsupported("modifier ." + modifier + " is not supported");
        }
      }
      return new Mode(to, from, rounding, whole, saturate, flush, relu);
    }
  }

  public static Op make(Instruction i, Assembler a) throws Unsupported {
    if (i.has("pack")) {
      return pack(i, a);
    }
    if (i.has("e4m3x2") || i.has("e5m2x2")) {
      return Minifloats.convert(i, a);
    }
    if (i.has("tf32")) {
      return tensorFloat(i, a);
    }
    Mode mode = Mode.of(i);
    Operand to = i.operands().getFirst();
    int d = a.result(to);
    if (mode.to.family() == ScalarType.Family.PACKED) {
      return pair(i, mode, d, a);
    }
    int source = a.source(i.operands().get(1), mode.from);
    String key = i.opcode() + "/" + a.resultMask(to);
    LongUnaryOperator f;
    if (isReal(mode.from)) {
      f = isReal(mode.to) ? realToReal(mode) : realToInteger(mode);
    } else {
      f = isReal(mode.to) ? integerToReal(mode) : integerToInteger(mode);
    }
    long mask = a.resultMask(to);
    boolean widens = mode.to.signed() && mask != mode.to.mask();
    if (widens) {
      int extend = 64 - mode.to.bits();
      LongUnaryOperator narrow = f;
      f = x -> narrow.applyAsLong(x) << extend >> extend & mask;
    }
    return UnaryOp.of("cvt." + key, f, d, source);
  }

  private static boolean isReal(ScalarType type) {
    return type.family() == ScalarType.Family.FLOAT;
  }

  private static LongUnaryOperator integerToInteger(Mode mode) {
    int drop = 64 - mode.from.bits();
    long mask = mode.to.mask();
    boolean signed = mode.from.signed();
    if (mode.saturate) {
      ScalarType to = mode.to;
      return x -> clamp(signed ? x << drop >> drop : x << drop >>> drop, signed, to);
    }
    return signed ? x -> x << drop >> drop & mask : x -> x << drop >>> drop & mask;
  }

  private static long clamp(long value, boolean signed, ScalarType to) {
    if (to.signed()) {
      long high = to.mask() >>> 1;
      if (!signed && value < 0) {
        return high;
      }
      return Math.clamp(value, -high - 1, high) & to.mask();
    }
    if (signed && value < 0) {
      return 0;
    }
    return Long.compareUnsigned(value, to.mask()) > 0 ? to.mask() : value;
  }

  private static LongUnaryOperator realToInteger(Mode mode) {
    Rounding whole = mode.whole == null ? Rounding.TOWARD_ZERO : mode.whole;
    ScalarType from = mode.from;
    ScalarType to = mode.to;
    boolean flush = mode.flush;
    // What an H200 makes of a NaN: 0, but from bf16 to 64 bits the least of all.
    long nan = from == ScalarType.BF16 && to.bits() == 64 ? Long.MIN_VALUE : 0;
    return x -> {
      double value = whole.whole(value(from, flush ? FloatRows.flush(x) : x));
      return Double.isNaN(value) ? nan : toInteger(value, to);
    };
  }

  /** Out of range goes to the nearest end. */
  private static long toInteger(double value, ScalarType to) {
    if (to.signed()) {
      return clamp((long) value, true, to);
    }
    if (value >= 0x1p63) {
      long above = value >= 0x1p64 ? -1L : (long) (value - 0x1p63) ^ Long.MIN_VALUE;
      return clamp(above, false, to);
    }
    return clamp(Math.max(0, (long) value), false, to);
  }

  private static LongUnaryOperator integerToReal(Mode mode) throws Unsupported {
    if (mode.rounding == null) {
      throw Unsupported.malformed("a rounding modifier is needed");
    }
    Rounding rounding = mode.rounding;
    int drop = 64 - mode.from.bits();
    boolean signed = mode.from.signed();
    ScalarType to = mode.to;
    boolean saturate = mode.saturate;
    return x -> {
      long value = signed ? x << drop >> drop : x << drop >>> drop;
      long bits =
          to == ScalarType.F64
              ? FloatRows.bits(exactReal(value, signed, rounding))
              : encode(
                  signed ? Rounding.oddLong(value) : Rounding.oddUnsigned(value), to, rounding);
      return saturate ? saturate(bits, to) : bits;
    };
  }

  private static double exactReal(long value, boolean signed, Rounding rounding) {
    double odd = signed ? Rounding.oddLong(value) : Rounding.oddUnsigned(value);
    if (Math.abs(odd) < 0x1p53) {
      return odd;
    }
    BigInteger exact =
        signed || value >= 0
            ? BigInteger.valueOf(value)
            : new BigInteger(Long.toUnsignedString(value));
    return rounding.real(exact.doubleValue(), new BigDecimal(exact));
  }

  private static LongUnaryOperator realToReal(Mode mode) {
    Rounding rounding = mode.rounding == null ? Rounding.NEAREST_EVEN : mode.rounding;
    ScalarType from = mode.from;
    ScalarType to = mode.to;
    if (from == ScalarType.BF16 && to == ScalarType.F32 && !mode.saturate) {
      return x -> (x & 0xffff) << 16; // the upper half as it is, NaNs too
    }
    return x -> {
      double value = value(from, mode.flush && from == ScalarType.F32 ? FloatRows.flush(x) : x);
      if (mode.whole != null) {
        value = mode.whole.whole(value);
      }
      if (mode.relu && value < 0) {
        value = 0;
      }
      long bits = encode(value, to, rounding);
      if (mode.flush && to == ScalarType.F32) {
        bits = FloatRows.flush(bits);
      }
      return mode.saturate ? saturate(bits, to) : bits;
    };
  }

  private static long saturate(long bits, ScalarType type) {
    return switch (type) {
      case F32 -> FloatRows.saturateSingle(bits);
      case F64 -> FloatRows.saturateReal(bits);
      default -> {
        float value = HalfRows.value(type, bits);
        yield value > 0 ? HalfRows.round(type, Math.min(value, 1)) : 0;
      }
    };
  }

  private static double value(ScalarType type, long bits) {
    return switch (type) {
      case F32 -> FloatRows.single(bits);
      case F64 -> FloatRows.real(bits);
      default -> HalfRows.value(type, bits);
    };
  }

  private static long encode(double value, ScalarType type, Rounding rounding) {
    return switch (type) {
      case F32 -> FloatRows.bits(rounding.single(value));
      case F64 -> FloatRows.bits(value);
      default -> HalfRows.round(type, value, rounding);
    };
  }

  /** {@code cvt.rn.f16x2.f32 d, a, b}: a in the upper half. */
  private static Op pair(Instruction i, Mode mode, int d, Assembler a) throws Unsupported {
    if (mode.from != ScalarType.F32 || i.operands().size() != 3) {
      throw new Unsupported("only from two .f32");
    }
    Rounding rounding = mode.rounding == null ? Rounding.NEAREST_EVEN : mode.rounding;
    ScalarType half = mode.to == ScalarType.F16X2 ? ScalarType.F16 : ScalarType.BF16;
    boolean relu = mode.relu;
    return BinaryOp.of(
        i.opcode(),
        (high, low) -> narrow(high, half, rounding, relu) << 16 | narrow(low, half, rounding, relu),
        d,
        a.source(i.operands().get(1), ScalarType.F32),
        a.source(i.operands().get(2), ScalarType.F32));
  }

  /** {@code cvt.rna.tf32.f32} and {@code cvt.rn.tf32.f32}: 10 bits of fraction in an f32. */
  private static Op tensorFloat(Instruction i, Assembler a) throws Unsupported {
    boolean away = i.has("rna");
    if ((!away && !i.has("rn")) || i.modifiers().size() != 3) {
      throw new Unsupported("this form is not supported");
    }
    LongUnaryOperator f =
        x -> {
          boolean special = (x & 0x7f800000L) == 0x7f800000L;
          long up = away ? 0x1000 : 0xfff + (x >>> 13 & 1);
          return special ? FloatRows.bits(FloatRows.single(x)) : (x + up) & 0xffffe000L;
        };
    return UnaryOp.of(
        i.opcode(),
        f,
        a.result(i.operands().getFirst()),
        a.source(i.operands().get(1), ScalarType.F32));
  }

  /** {@code cvt.pack.sat.to.s32[.b32] d, a, b[, c]}: a above b, above them the low bits of c. */
  private static Op pack(Instruction i, Assembler a) throws Unsupported {
    ScalarType to = i.modifiers().size() < 4 ? null : ScalarType.of(i.modifiers().get(2));
    if (!i.has("sat") || to == null || to.bits() > 16 || !i.modifiers().get(3).equals("s32")) {
      throw new Unsupported("this form is not supported");
    }
    int bits = to.bits();
    int above =
        i.operands().size() > 3
            ? a.source(i.operands().get(3), ScalarType.B32)
            : a.kernel().constant(0);
    return TernaryOp.of(
        i.opcode(),
        (x, y, z) ->
            ((bits == 16 ? 0 : z << (2 * bits)) & 0xffffffffL)
                | clamp(x << 32 >> 32, true, to) << bits
                | clamp(y << 32 >> 32, true, to),
        a.result(i.operands().getFirst()),
        a.source(i.operands().get(1), ScalarType.S32),
        a.source(i.operands().get(2), ScalarType.S32),
        above);
  }

  private static long narrow(long bits, ScalarType half, Rounding rounding, boolean relu) {
    double value = FloatRows.single(bits);
    return HalfRows.round(half, relu && value < 0 ? 0 : value, rounding);
  }
}
