package dev.doorbell.ptxvm.engine.ops.arithmetic;

import java.util.function.LongBinaryOperator;

/** Integer arithmetic, logic, shifts and bit operations (PTX ISA, "Integer Arithmetic"). */
public final class IntegerRows {
  private static final long U16 = 0xffffL;
  private static final long U32 = 0xffffffffL;

  private IntegerRows() {}

  public static void addTo(Rows rows) {
    arithmetic(rows);
    multiplication(rows);
    division(rows);
    ordering(rows);
    logic(rows);
    shifts(rows);
    bits(rows);
  }

  private static void arithmetic(Rows rows) {
    rows.binary("add.u16 add.s16", (a, b) -> a + b & U16)
        .binary("add.u32 add.s32", (a, b) -> a + b & U32)
        .binary("add.u64 add.s64", (a, b) -> a + b)
        .binary("add.sat.s32", (a, b) -> saturate((long) (int) a + (int) b))
        .binary("sub.u16 sub.s16", (a, b) -> a - b & U16)
        .binary("sub.u32 sub.s32", (a, b) -> a - b & U32)
        .binary("sub.u64 sub.s64", (a, b) -> a - b)
        .binary("sub.sat.s32", (a, b) -> saturate((long) (int) a - (int) b))
        .binary(
            "add.u16x2 add.s16x2", (a, b) -> (a + b & U16) | ((a >>> 16) + (b >>> 16) & U16) << 16)
        .unary("neg.s16", a -> -a & U16)
        .unary("neg.s32", a -> -a & U32)
        .unary("neg.s64", a -> -a)
        .unary("abs.s16", a -> Math.abs((short) a) & U16)
        .unary("abs.s32", a -> Math.abs((int) a) & U32)
        .unary("abs.s64", Math::abs);
  }

  private static void multiplication(Rows rows) {
    rows.binary("mul.lo.u16 mul.lo.s16", (a, b) -> a * b & U16)
        .binary("mul.lo.u32 mul.lo.s32", (a, b) -> a * b & U32)
        .binary("mul.lo.u64 mul.lo.s64", (a, b) -> a * b)
        .binary("mul.hi.u16", (a, b) -> (a * b) >>> 16)
        .binary("mul.hi.s16", (a, b) -> ((short) a * (short) b) >> 16 & U16)
        .binary("mul.hi.u32", (a, b) -> (a * b) >>> 32)
        .binary("mul.hi.s32", (a, b) -> ((long) (int) a * (int) b) >>> 32)
        .binary("mul.hi.u64", Math::unsignedMultiplyHigh)
        .binary("mul.hi.s64", Math::multiplyHigh)
        .binary("mul.wide.u16", (a, b) -> a * b)
        .binary("mul.wide.s16", (a, b) -> (short) a * (short) b & U32)
        .binary("mul.wide.u32", (a, b) -> (a & U32) * (b & U32))
        .binary("mul.wide.s32", (a, b) -> (long) (int) a * (int) b)
        .binary("mul24.lo.u32", (a, b) -> (a & 0xffffff) * (b & 0xffffff) & U32)
        .binary("mul24.lo.s32", (a, b) -> signed24(a) * signed24(b) & U32)
        .binary("mul24.hi.u32", (a, b) -> ((a & 0xffffff) * (b & 0xffffff)) >>> 16)
        .binary("mul24.hi.s32", (a, b) -> (signed24(a) * signed24(b)) >> 16 & U32)
        .ternary("mad.lo.u16 mad.lo.s16", (a, b, c) -> a * b + c & U16)
        .ternary("mad.lo.u32 mad.lo.s32", (a, b, c) -> a * b + c & U32)
        .ternary("mad.lo.u64 mad.lo.s64", (a, b, c) -> a * b + c)
        .ternary("mad.hi.u16", (a, b, c) -> ((a * b) >>> 16) + c & U16)
        .ternary("mad.hi.s16", (a, b, c) -> (((short) a * (short) b) >> 16) + c & U16)
        .ternary("mad.hi.u32", (a, b, c) -> ((a * b) >>> 32) + c & U32)
        .ternary("mad.hi.s32", (a, b, c) -> (((long) (int) a * (int) b) >> 32) + c & U32)
        .ternary(
            "mad.hi.sat.s32", (a, b, c) -> saturate((((long) (int) a * (int) b) >> 32) + (int) c))
        .ternary("mad.hi.u64", (a, b, c) -> Math.unsignedMultiplyHigh(a, b) + c)
        .ternary("mad.hi.s64", (a, b, c) -> Math.multiplyHigh(a, b) + c)
        .ternary("mad.wide.u16", (a, b, c) -> a * b + c & U32)
        .ternary("mad.wide.s16", (a, b, c) -> (short) a * (short) b + c & U32)
        .ternary("mad.wide.u32", (a, b, c) -> (a & U32) * (b & U32) + c)
        .ternary("mad.wide.s32", (a, b, c) -> (long) (int) a * (int) b + c)
        .ternary("mad24.lo.u32", (a, b, c) -> (a & 0xffffff) * (b & 0xffffff) + c & U32)
        .ternary("mad24.lo.s32", (a, b, c) -> signed24(a) * signed24(b) + c & U32)
        .ternary("mad24.hi.u32", (a, b, c) -> (((a & 0xffffff) * (b & 0xffffff)) >>> 16) + c & U32)
        .ternary("mad24.hi.s32", (a, b, c) -> ((signed24(a) * signed24(b)) >> 16) + c & U32)
        .ternary("sad.u16", (a, b, c) -> Math.abs(a - b) + c & U16)
        .ternary("sad.s16", (a, b, c) -> Math.abs((short) a - (short) b) + c & U16)
        .ternary("sad.u32", (a, b, c) -> Math.abs(a - b) + c & U32)
        .ternary("sad.s32", (a, b, c) -> Math.abs((long) (int) a - (int) b) + c & U32)
        .ternary("sad.u64", (a, b, c) -> (Long.compareUnsigned(a, b) < 0 ? b - a : a - b) + c)
        .ternary("sad.s64", (a, b, c) -> (a < b ? b - a : a - b) + c)
        .ternary("vabsdiff4.u32.u32.u32", (a, b, c) -> differences(a, b, 0, false, false))
        .ternary("vabsdiff4.u32.s32.s32", (a, b, c) -> differences(a, b, 0, true, false))
        .ternary("vabsdiff4.u32.u32.add.u32", (a, b, c) -> differences(a, b, c, false, true))
        .ternary("vabsdiff4.u32.s32.add.s32", (a, b, c) -> differences(a, b, c, true, true))
        .ternary("dp4a.u32.u32", (a, b, c) -> dot4(a, b, c, false, false))
        .ternary("dp4a.u32.s32", (a, b, c) -> dot4(a, b, c, false, true))
        .ternary("dp4a.s32.u32", (a, b, c) -> dot4(a, b, c, true, false))
        .ternary("dp4a.s32.s32", (a, b, c) -> dot4(a, b, c, true, true))
        .ternary("dp2a.lo.u32.u32", (a, b, c) -> dot2(a, b, c, false, false))
        .ternary("dp2a.lo.u32.s32", (a, b, c) -> dot2(a, b, c, false, true))
        .ternary("dp2a.lo.s32.u32", (a, b, c) -> dot2(a, b, c, true, false))
        .ternary("dp2a.lo.s32.s32", (a, b, c) -> dot2(a, b, c, true, true))
        .ternary("dp2a.hi.u32.u32", (a, b, c) -> dot2(a, b >>> 16, c, false, false))
        .ternary("dp2a.hi.u32.s32", (a, b, c) -> dot2(a, b >>> 16, c, false, true))
        .ternary("dp2a.hi.s32.u32", (a, b, c) -> dot2(a, b >>> 16, c, true, false))
        .ternary("dp2a.hi.s32.s32", (a, b, c) -> dot2(a, b >>> 16, c, true, true));
  }

  /** Division by zero gives all ones, quotient and remainder, as an H200 computes them. */
  private static void division(Rows rows) {
    rows.binary("div.u16", (a, b) -> b == 0 ? U16 : a / b)
        .binary("div.s16", (a, b) -> b == 0 ? U16 : (short) a / (short) b & U16)
        .binary("div.u32", (a, b) -> b == 0 ? U32 : a / b)
        .binary("div.s32", (a, b) -> b == 0 ? U32 : (int) a / (int) b & U32)
        .binary("div.u64", (a, b) -> b == 0 ? -1L : Long.divideUnsigned(a, b))
        .binary("div.s64", (a, b) -> b == 0 ? -1L : a / b)
        .binary("rem.u16", (a, b) -> b == 0 ? U16 : a % b)
        .binary("rem.s16", (a, b) -> b == 0 ? U16 : (short) a % (short) b & U16)
        .binary("rem.u32", (a, b) -> b == 0 ? U32 : a % b)
        .binary("rem.s32", (a, b) -> b == 0 ? U32 : (int) a % (int) b & U32)
        .binary("rem.u64", (a, b) -> b == 0 ? -1L : Long.remainderUnsigned(a, b))
        .binary("rem.s64", (a, b) -> b == 0 ? -1L : a % b);
  }

  private static void ordering(Rows rows) {
    rows.binary("min.u16", Math::min)
        .binary("min.s16", (a, b) -> Math.min((short) a, (short) b) & U16)
        .binary("min.u32", Math::min)
        .binary("min.s32", (a, b) -> Math.min((int) a, (int) b) & U32)
        .binary("min.u64", (a, b) -> Long.compareUnsigned(a, b) <= 0 ? a : b)
        .binary("min.s64", Math::min)
        .binary("max.u16", Math::max)
        .binary("max.s16", (a, b) -> Math.max((short) a, (short) b) & U16)
        .binary("max.u32", Math::max)
        .binary("max.s32", (a, b) -> Math.max((int) a, (int) b) & U32)
        .binary("max.u64", (a, b) -> Long.compareUnsigned(a, b) >= 0 ? a : b)
        .binary("max.s64", Math::max)
        .binary("min.u16x2", (a, b) -> pair(a, b, Math::min))
        .binary("max.u16x2", (a, b) -> pair(a, b, Math::max))
        .binary("min.s16x2", (a, b) -> pair(a, b, (x, y) -> Math.min((short) x, (short) y)))
        .binary("max.s16x2", (a, b) -> pair(a, b, (x, y) -> Math.max((short) x, (short) y)))
        .binary(
            "min.relu.s16x2",
            (a, b) -> pair(a, b, (x, y) -> Math.max(0, Math.min((short) x, (short) y))))
        .binary(
            "max.relu.s16x2",
            (a, b) -> pair(a, b, (x, y) -> Math.max(0, Math.max((short) x, (short) y))))
        .binary("min.relu.s32", (a, b) -> Math.max(0, Math.min((int) a, (int) b)))
        .binary("max.relu.s32", (a, b) -> Math.max(0, Math.max((int) a, (int) b)));
  }

  private static void logic(Rows rows) {
    rows.binary("and.pred and.b16 and.b32 and.b64", (a, b) -> a & b)
        .binary("or.pred or.b16 or.b32 or.b64", (a, b) -> a | b)
        .binary("xor.pred xor.b16 xor.b32 xor.b64", (a, b) -> a ^ b)
        .unary("not.pred", a -> a ^ 1)
        .unary("not.b16", a -> ~a & U16)
        .unary("not.b32", a -> ~a & U32)
        .unary("not.b64", a -> ~a)
        .unary("cnot.b16 cnot.b32 cnot.b64", a -> a == 0 ? 1 : 0);
  }

  /** Counts above the width clamp. */
  private static void shifts(Rows rows) {
    rows.binary("shl.b16", (a, b) -> (b & U32) > 15 ? 0 : a << b & U16)
        .binary("shl.b32", (a, b) -> (b & U32) > 31 ? 0 : a << b & U32)
        .binary("shl.b64", (a, b) -> (b & U32) > 63 ? 0 : a << b)
        .binary("shr.b16 shr.u16", (a, b) -> (b & U32) > 15 ? 0 : a >>> b)
        .binary("shr.b32 shr.u32", (a, b) -> (b & U32) > 31 ? 0 : a >>> b)
        .binary("shr.b64 shr.u64", (a, b) -> (b & U32) > 63 ? 0 : a >>> b)
        .binary("shr.s16", (a, b) -> (short) a >> Math.min(b & U32, 15) & U16)
        .binary("shr.s32", (a, b) -> (int) a >> Math.min(b & U32, 31) & U32)
        .binary("shr.s64", (a, b) -> a >> Math.min(b & U32, 63))
        .ternary("shf.l.wrap.b32", (a, b, c) -> (b << 32 | a) << (c & 31) >>> 32)
        .ternary("shf.r.wrap.b32", (a, b, c) -> (b << 32 | a) >>> (c & 31) & U32)
        .ternary(
            "shf.l.clamp.b32", (a, b, c) -> (c & U32) >= 32 ? a : (b << 32 | a) << (c & 31) >>> 32)
        .ternary(
            "shf.r.clamp.b32", (a, b, c) -> (c & U32) >= 32 ? b : (b << 32 | a) >>> (c & 31) & U32);
  }

  private static void bits(Rows rows) {
    rows.unary("popc.b32 popc.b64", Long::bitCount)
        .unary("clz.b32", a -> Integer.numberOfLeadingZeros((int) a))
        .unary("clz.b64", Long::numberOfLeadingZeros)
        .unary("brev.b32", a -> Integer.reverse((int) a) & U32)
        .unary("brev.b64", Long::reverse)
        .unary("bfind.u32", a -> highest(a & U32) & U32)
        .unary("bfind.s32", a -> highest(((int) a ^ (int) a >> 31) & U32) & U32)
        .unary("bfind.u64", a -> highest(a) & U32)
        .unary("bfind.s64", a -> highest(a ^ a >> 63) & U32)
        .unary("bfind.shiftamt.u32", a -> shiftAmount(a & U32, 31))
        .unary("bfind.shiftamt.s32", a -> shiftAmount(((int) a ^ (int) a >> 31) & U32, 31))
        .unary("bfind.shiftamt.u64", a -> shiftAmount(a, 63))
        .unary("bfind.shiftamt.s64", a -> shiftAmount(a ^ a >> 63, 63))
        .ternary("bfe.u32", (a, b, c) -> field(a, b, c, 32))
        .ternary("bfe.u64", (a, b, c) -> field(a, b, c, 64))
        .ternary("bfe.s32", (a, b, c) -> signedField(signed32(a), b, c, 32) & U32)
        .ternary("bfe.s64", (a, b, c) -> signedField(a, b, c, 64))
        .binary("bmsk.clamp.b32", (a, b) -> maskClamped(a & U32, b & U32))
        .binary("bmsk.wrap.b32", (a, b) -> maskClamped(a & 31, b & 31))
        .binary("szext.wrap.u32", (a, b) -> field(a, 0, b & 31, 32))
        .binary("szext.clamp.u32", (a, b) -> field(a, 0, Math.min(b & U32, 32), 32))
        .binary("szext.wrap.s32", (a, b) -> signedField(signed32(a), 0, b & 31, 32) & U32)
        .binary(
            "szext.clamp.s32",
            (a, b) -> signedField(signed32(a), 0, Math.min(b & U32, 32), 32) & U32)
        .ternary("fns.b32", IntegerRows::findNth)
        .ternary("prmt.b32", IntegerRows::permute)
        .ternary("prmt.b32.f4e", (a, b, c) -> permute(a, b, forward((int) c & 3)))
        .ternary("prmt.b32.b4e", (a, b, c) -> permute(a, b, backward((int) c & 3)))
        .ternary("prmt.b32.rc8", (a, b, c) -> permute(a, b, (c & 3) * 0x1111))
        .ternary("prmt.b32.ecl", (a, b, c) -> permute(a, b, edge((int) c & 3, true)))
        .ternary("prmt.b32.ecr", (a, b, c) -> permute(a, b, edge((int) c & 3, false)))
        .ternary("prmt.b32.rc16", (a, b, c) -> permute(a, b, (c & 1) == 0 ? 0x1010 : 0x3232));
  }

  /** Both halfwords by the same function. */
  private static long pair(long a, long b, LongBinaryOperator f) {
    return (f.applyAsLong(a & U16, b & U16) & U16)
        | (f.applyAsLong(a >>> 16 & U16, b >>> 16 & U16) & U16) << 16;
  }

  /** PTX ISA, {@code fns}: the place of the n-th set bit from {@code base} on, up or down. */
  private static long findNth(long mask, long base, long offset) {
    int at = (int) base;
    if (at < 0 || at > 31) {
      return U32;
    }
    int n = (int) offset;
    if (n == 0) {
      return (mask >>> at & 1) != 0 ? at : U32;
    }
    int step = n < 0 ? -1 : 1;
    long left = Math.abs((long) n);
    for (; at >= 0 && at < 32; at += step) {
      if ((mask >>> at & 1) != 0 && --left == 0) {
        return at;
      }
    }
    return U32;
  }

  private static long saturate(long value) {
    return Math.clamp(value, Integer.MIN_VALUE, Integer.MAX_VALUE) & U32;
  }

  private static long signed32(long value) {
    return value << 32 >> 32;
  }

  private static long signed24(long value) {
    return value << 40 >> 40;
  }

  /** The differences of four bytes, each in its place or all added to {@code c}. */
  private static long differences(long a, long b, long c, boolean signed, boolean add) {
    long result = c;
    for (int shift = 0; shift < 32; shift += 8) {
      int x = (int) (a >>> shift);
      int y = (int) (b >>> shift);
      int difference = Math.abs(signed ? (byte) x - (byte) y : (x & 0xff) - (y & 0xff));
      result += add ? difference : (long) difference << shift;
    }
    return result & U32;
  }

  private static long dot4(long a, long b, long c, boolean aSigned, boolean bSigned) {
    int sum = (int) c;
    for (int shift = 0; shift < 32; shift += 8) {
      int x = (int) (a >>> shift);
      int y = (int) (b >>> shift);
      sum += (aSigned ? (byte) x : x & 0xff) * (bSigned ? (byte) y : y & 0xff);
    }
    return sum & U32;
  }

  private static long dot2(long a, long b, long c, boolean aSigned, boolean bSigned) {
    int sum = (int) c;
    for (int i = 0; i < 2; i++) {
      int x = (int) (a >>> (16 * i));
      int y = (int) (b >>> (8 * i));
      sum += (aSigned ? (short) x : x & 0xffff) * (bSigned ? (byte) y : y & 0xff);
    }
    return sum & U32;
  }

  private static long highest(long value) {
    return 63L - Long.numberOfLeadingZeros(value);
  }

  private static long shiftAmount(long value, int top) {
    return value == 0 ? U32 : top - highest(value);
  }

  /**
   * A position or length of {@code bfe} and {@code bfi}. PTX leaves values above 255 open; an H200
   * takes a byte for 32-bit fields and clamps for 64-bit ones.
   */
  public static int place(long value, int width) {
    return width == 32 ? (int) value & 0xff : (int) Math.min(value & U32, 0xff);
  }

  /** PTX ISA, {@code bfe}: bits beyond the value are 0. */
  private static long field(long value, long position, long length, int width) {
    int at = place(position, width);
    int count = place(length, width);
    if (count == 0 || at >= width) {
      return 0;
    }
    long shifted = value >>> at;
    return count >= 64 ? shifted : shifted & (1L << count) - 1;
  }

  /** The same with the sign of the field's top bit, or of the value where the field goes beyond. */
  private static long signedField(long value, long position, long length, int width) {
    int at = place(position, width);
    int count = place(length, width);
    if (count == 0) {
      return 0;
    }
    // value is sign-extended to 64 bits, so bits beyond the width are its sign already.
    long shifted = value >> Math.min(at, 63);
    int kept = Math.min(count, Math.max(width - at, 1));
    return shifted << (64 - kept) >> (64 - kept);
  }

  private static long maskClamped(long from, long bits) {
    if (from > 31 || bits == 0) {
      return 0;
    }
    return (bits > 31 ? -1L : (1L << bits) - 1) << from & U32;
  }

  private static long permute(long a, long b, long selectors) {
    long bytes = (b & U32) << 32 | (a & U32);
    long result = 0;
    for (int i = 0; i < 4; i++) {
      int selector = (int) (selectors >>> (4 * i)) & 0xf;
      long value = bytes >>> (8 * (selector & 7)) & 0xff;
      if ((selector & 8) != 0) {
        value = (value & 0x80) != 0 ? 0xff : 0;
      }
      result |= value << (8 * i);
    }
    return result;
  }

  private static long forward(int by) {
    long selectors = 0;
    for (int i = 0; i < 4; i++) {
      selectors |= (long) (by + i) << (4 * i);
    }
    return selectors;
  }

  private static long backward(int by) {
    long selectors = 0;
    for (int i = 0; i < 4; i++) {
      selectors |= (long) (by - i & 7) << (4 * i);
    }
    return selectors;
  }

  private static long edge(int by, boolean left) {
    long selectors = 0;
    for (int i = 0; i < 4; i++) {
      selectors |= (long) (left ? Math.max(by, i) : Math.min(by, i)) << (4 * i);
    }
    return selectors;
  }
}
