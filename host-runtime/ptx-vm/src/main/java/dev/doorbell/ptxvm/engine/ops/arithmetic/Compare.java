package dev.doorbell.ptxvm.engine.ops.arithmetic;

import dev.doorbell.ptxvm.engine.decode.Assembler;
import dev.doorbell.ptxvm.engine.decode.Assembler.Unsupported;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.BinaryOp;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.LongTernaryOperator;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.TernaryOp;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.ScalarType;
import java.util.List;
import java.util.Map;
import java.util.function.LongBinaryOperator;
import org.jspecify.annotations.Nullable;

/** {@code setp}, {@code set}, {@code selp}, {@code slct}. */
public final class Compare {
  private static final Rows ROWS = new Rows();
  private static final long U32 = 0xffffffffL;

  /** Comparisons that are another one with the operands swapped. */
  private static final Map<String, String> SWAPPED =
      Map.of("gt", "lt", "ge", "le", "hi", "lo", "hs", "ls", "gtu", "ltu", "geu", "leu");

  static {
    ROWS.binary("eq.b16 eq.u16 eq.s16 eq.b32 eq.u32 eq.s32", (a, b) -> (int) a == (int) b ? 1 : 0)
        .binary("ne.b16 ne.u16 ne.s16 ne.b32 ne.u32 ne.s32", (a, b) -> (int) a != (int) b ? 1 : 0)
        .binary("eq.b64 eq.u64 eq.s64", (a, b) -> a == b ? 1 : 0)
        .binary("ne.b64 ne.u64 ne.s64", (a, b) -> a != b ? 1 : 0)
        .binary("lt.s16", (a, b) -> (short) a < (short) b ? 1 : 0)
        .binary("le.s16", (a, b) -> (short) a <= (short) b ? 1 : 0)
        .binary("lt.s32", (a, b) -> (int) a < (int) b ? 1 : 0)
        .binary("le.s32", (a, b) -> (int) a <= (int) b ? 1 : 0)
        .binary("lt.s64", (a, b) -> a < b ? 1 : 0)
        .binary("le.s64", (a, b) -> a <= b ? 1 : 0)
        .binary("lt.u16 lo.u16 lt.u32 lo.u32", (a, b) -> (a & U32) < (b & U32) ? 1 : 0)
        .binary("le.u16 ls.u16 le.u32 ls.u32", (a, b) -> (a & U32) <= (b & U32) ? 1 : 0)
        .binary("lt.u64 lo.u64", (a, b) -> Long.compareUnsigned(a, b) < 0 ? 1 : 0)
        .binary("le.u64 ls.u64", (a, b) -> Long.compareUnsigned(a, b) <= 0 ? 1 : 0)
        .binary("eq.f32", (a, b) -> single(a) == single(b) ? 1 : 0)
        .binary("ne.f32", (a, b) -> single(a) < single(b) || single(a) > single(b) ? 1 : 0)
        .binary("lt.f32", (a, b) -> single(a) < single(b) ? 1 : 0)
        .binary("le.f32", (a, b) -> single(a) <= single(b) ? 1 : 0)
        .binary("equ.f32", (a, b) -> single(a) < single(b) || single(a) > single(b) ? 0 : 1)
        .binary("neu.f32", (a, b) -> single(a) != single(b) ? 1 : 0)
        .binary("ltu.f32", (a, b) -> single(a) >= single(b) ? 0 : 1)
        .binary("leu.f32", (a, b) -> single(a) > single(b) ? 0 : 1)
        .binary("num.f32", (a, b) -> Float.isNaN(single(a)) || Float.isNaN(single(b)) ? 0 : 1)
        .binary("nan.f32", (a, b) -> Float.isNaN(single(a)) || Float.isNaN(single(b)) ? 1 : 0)
        .binary("eq.f64", (a, b) -> real(a) == real(b) ? 1 : 0)
        .binary("ne.f64", (a, b) -> real(a) < real(b) || real(a) > real(b) ? 1 : 0)
        .binary("lt.f64", (a, b) -> real(a) < real(b) ? 1 : 0)
        .binary("le.f64", (a, b) -> real(a) <= real(b) ? 1 : 0)
        .binary("equ.f64", (a, b) -> real(a) < real(b) || real(a) > real(b) ? 0 : 1)
        .binary("neu.f64", (a, b) -> real(a) != real(b) ? 1 : 0)
        .binary("ltu.f64", (a, b) -> real(a) >= real(b) ? 0 : 1)
        .binary("leu.f64", (a, b) -> real(a) > real(b) ? 0 : 1)
        .binary("num.f64", (a, b) -> Double.isNaN(real(a)) || Double.isNaN(real(b)) ? 0 : 1)
        .binary("nan.f64", (a, b) -> Double.isNaN(real(a)) || Double.isNaN(real(b)) ? 1 : 0);
  }

  private Compare() {}

  private static float single(long bits) {
    return Float.intBitsToFloat((int) bits);
  }

  private static double real(long bits) {
    return Double.longBitsToDouble(bits);
  }

  /** {@code setp.cmp[.bool][.ftz].type p[|q], a, b[, c]}. */
  public static Op setPredicate(Instruction i, Assembler a) throws Unsupported {
    ScalarType type = Assembler.type(i);
    Operand to = i.operands().getFirst();
    if (type.family() == ScalarType.Family.PACKED) {
      if (!(to instanceof Operand.Pair(Operand low, Operand high))) {
        throw Unsupported.malformed("a comparison of pairs needs two predicates");
      }
      Test test = halves(i, type, a);
      int first = a.result(low);
      int second = a.result(high);
      return Op.of(
          (t, r) -> {
            int both = test.holdsInHalves(r);
            r[first] = both & 1;
            r[second] = both >> 1;
          });
    }
    Test test = Test.of(i, type, i.modifiers(), a);
    if (to instanceof Operand.Pair(Operand yes, Operand no)) {
      return both(test, a.result(yes), a.result(no));
    }
    if (test.combine == null && !test.ftz) {
      return BinaryOp.of("setp." + test.name, test.f, a.result(to), test.a, test.b);
    }
    return both(test, a.result(to), a.kernel().trash());
  }

  private static Op both(Test test, int yes, int no) {
    return Op.of(
        (t, r) -> {
          boolean holds = test.holds(r, true);
          boolean opposite = test.holds(r, false);
          r[yes] = holds ? 1 : 0;
          r[no] = opposite ? 1 : 0;
        });
  }

  /** {@code set.cmp[.bool].dtype.stype d, a, b[, c]}: all ones or 1.0 for true. */
  public static Op set(Instruction i, Assembler a) throws Unsupported {
    int last = i.modifiers().size() - 1;
    ScalarType to = last > 0 ? ScalarType.of(i.modifiers().get(last - 1)) : null;
    ScalarType from = Assembler.type(i);
    if (to == null || (to.bits() != 32 && (to.bits() != 16 || from.bits() != 16))) {
      throw new Unsupported("result type not supported");
    }
    int d = a.result(i.operands().getFirst());
    if (to.family() == ScalarType.Family.PACKED || from.family() == ScalarType.Family.PACKED) {
      long one = to == ScalarType.F16X2 ? 0x3c00 : to == ScalarType.BF16X2 ? 0x3f80 : 0xffff;
      Test test = halves(i, from, a);
      return Op.of(
          (t, r) -> {
            int both = test.holdsInHalves(r);
            r[d] = ((both & 1) != 0 ? one : 0) | ((both & 2) != 0 ? one << 16 : 0);
          });
    }
    Test test = Test.of(i, Assembler.type(i), i.modifiers(), a);
    long yes =
        switch (to) {
          case F32 -> Float.floatToRawIntBits(1);
          case F16 -> 0x3c00;
          case BF16 -> 0x3f80;
          default -> to.mask();
        };
    return Op.of((t, r) -> r[d] = test.holds(r, true) ? yes : 0);
  }

  /** The comparison of one half of a pair; the operands are whole pairs. */
  private static Test halves(Instruction i, ScalarType type, Assembler a) throws Unsupported {
    return Test.of(i, HalfRows.half(type), i.modifiers(), a);
  }

  /** {@code selp d, a, b, p}. */
  public static Op select(Instruction i, Assembler a) throws Unsupported {
    ScalarType type = Assembler.type(i);
    Assembler.Condition condition = a.condition(i.operands().get(3));
    int yes = a.source(i.operands().get(1), type);
    int no = a.source(i.operands().get(2), type);
    return TernaryOp.of(
        "selp",
        (x, y, c) -> c != 0 ? x : y,
        a.result(i.operands().getFirst()),
        condition.negated() ? no : yes,
        condition.negated() ? yes : no,
        condition.slot());
  }

  /** {@code slct.type.ctype d, a, b, c}: a when c >= 0. */
  public static Op selectBySign(Instruction i, Assembler a) throws Unsupported {
    ScalarType by = Assembler.type(i);
    ScalarType type = ScalarType.of(i.modifiers().get(i.modifiers().size() - 2));
    if (type == null || (by != ScalarType.S32 && by != ScalarType.F32)) {
      throw new Unsupported("type not supported");
    }
    LongTernaryOperator f =
        by == ScalarType.S32
            ? (x, y, c) -> (int) c >= 0 ? x : y
            : (x, y, c) -> single(c) >= 0 ? x : y;
    return TernaryOp.of(
        "slct." + by,
        f,
        a.result(i.operands().getFirst()),
        a.source(i.operands().get(1), type),
        a.source(i.operands().get(2), type),
        a.source(i.operands().get(3), by));
  }

  /** A comparison, possibly combined with a predicate. */
  private record Test(
      String name,
      LongBinaryOperator f,
      int a,
      int b,
      @Nullable String combine,
      int c,
      boolean negated,
      boolean ftz) {

    static Test of(Instruction i, ScalarType type, List<String> modifiers, Assembler a)
        throws Unsupported {
      String comparison = modifiers.getFirst();
      String combine = null;
      boolean ftz = false;
      for (String modifier : modifiers.subList(1, modifiers.size())) {
        switch (modifier) {
          case "and", "or", "xor" -> combine = modifier;
          case "ftz" -> ftz = type == ScalarType.F32;
          default -> {}
        }
      }
      int x = a.source(i.operands().get(1), type);
      int y = a.source(i.operands().get(2), type);
      boolean half = type == ScalarType.F16 || type == ScalarType.BF16;
      boolean real = half || type == ScalarType.F32 || type == ScalarType.F64;
      String swapped = SWAPPED.get(comparison);
      String key = (swapped == null ? comparison : swapped) + "." + (half ? "f32" : type.ptx());
      if (!(ROWS.get(key) instanceof Rows.Two(LongBinaryOperator f))
          || (real && List.of("lo", "ls", "hi", "hs").contains(comparison))) {
        throw new Unsupported("comparison not supported");
      }
      if (half) {
        boolean flush = modifiers.contains("ftz");
        key = key + type + flush;
        LongBinaryOperator wide = f;
        f =
            (p, q) ->
                wide.applyAsLong(
                    HalfRows.widen(type, flush ? HalfRows.flush(type, p) : p),
                    HalfRows.widen(type, flush ? HalfRows.flush(type, q) : q));
      }
      int c = -1;
      boolean negated = false;
      if (combine != null) {
        Assembler.Condition condition = a.condition(i.operands().get(3));
        negated = condition.negated();
        c = condition.slot();
      }
      return new Test(
          key, f, swapped == null ? x : y, swapped == null ? y : x, combine, c, negated, ftz);
    }

    boolean holds(long[] r, boolean wanted) {
      return holds(r, r[a], r[b], wanted);
    }

    /**
     * Tests both halves of a pair: bit 0 is the result of the lower one, bit 1 of the upper one.
     */
    int holdsInHalves(long[] r) {
      boolean low = holds(r, r[a] & 0xffff, r[b] & 0xffff, true);
      boolean high = holds(r, r[a] >>> 16 & 0xffff, r[b] >>> 16 & 0xffff, true);
      return (low ? 1 : 0) | (high ? 2 : 0);
    }

    boolean holds(long[] r, long first, long second, boolean wanted) {
      long x = ftz ? FloatRows.flush(first) : first;
      long y = ftz ? FloatRows.flush(second) : second;
      boolean result = (f.applyAsLong(x, y) != 0) == wanted;
      if (combine == null) {
        return result;
      }
      boolean other = (r[c] != 0) != negated;
      return switch (combine) {
        case "and" -> result && other;
        case "or" -> result || other;
        default -> result != other;
      };
    }
  }
}
