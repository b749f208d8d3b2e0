package dev.doorbell.ptxvm.engine.ops.arithmetic;

import dev.doorbell.ptxvm.engine.decode.Assembler;
import dev.doorbell.ptxvm.engine.decode.Assembler.Unsupported;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.LongTernaryOperator;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.TernaryOp;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.Operand.Register;
import dev.doorbell.ptxvm.ir.ScalarType;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.LongBinaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Video instructions (PTX ISA, "Video Instructions"): arithmetic on bytes, halves and words with 33
 * bits between, and a second operation on the result.
 */
public final class Video {
  private static final long U32 = 0xffffffffL;
  private static final Set<String> SECOND = Set.of("add", "min", "max");

  private final Instruction instruction;
  private final List<ScalarType> types;

  /** A source: the part of a register that counts, as a number. */
  private record Part(int slot, int shift, int bits, boolean signed, boolean negated) {
    long of(long register) {
      return number(register >>> shift, bits, signed);
    }
  }

  private Video(Instruction instruction) {
    this.instruction = instruction;
    this.types = instruction.modifiers().stream().flatMap(Video::type).toList();
  }

  private static Stream<ScalarType> type(String modifier) {
    ScalarType type = ScalarType.of(modifier);
    return type == null ? Stream.empty() : Stream.of(type);
  }

  /** {@code vop.dtype.atype.btype{.sat}{.op2} d{.dsel}, a{.asel}, b{.bsel}{, c}}. */
  public static Op scalar(Instruction i, Assembler a) throws Unsupported {
    return new Video(i).scalar(a);
  }

  /** {@code vmad.dtype.atype.btype{.po}{.sat}{.scale} d, {-}a{.asel}, {-}b{.bsel}, {-}c}. */
  public static Op multiply(Instruction i, Assembler a) throws Unsupported {
    return new Video(i).multiply(a);
  }

  /** {@code vop2} and {@code vop4}: two halves or four bytes at once. */
  public static Op lanes(Instruction i, Assembler a) throws Unsupported {
    return new Video(i).lanes(a);
  }

  private static long number(long bits, int count, boolean signed) {
    int unused = Long.SIZE - count;
    return signed ? bits << unused >> unused : bits << unused >>> unused;
  }

  private Part part(int index, ScalarType type, Assembler a) throws Unsupported {
    Operand operand = instruction.operands().get(index);
    if (!(operand instanceof Operand.Part(Register register, String selector, boolean negated))) {
      return new Part(a.source(operand, ScalarType.B32), 0, Integer.SIZE, type.signed(), false);
    }
    int bits = bits(selector);
    int shift = selector.isEmpty() ? 0 : bits * (selector.charAt(1) - '0');
    if (selector.length() > 2 || shift >= Integer.SIZE) {
      throw Unsupported.malformed("a part is .b0 to .b3, .h0 or .h1");
    }
    return new Part(a.slot(register), shift, bits, type.signed(), negated);
  }

  private static int bits(String selector) {
    return selector.isEmpty() ? Integer.SIZE : selector.startsWith("b") ? Byte.SIZE : Short.SIZE;
  }

  private boolean has(String modifier) {
    return instruction.has(modifier);
  }

  /** The opcode and what its operands select, under which compiled code finds the function. */
  private String key() {
    StringBuilder key = new StringBuilder(instruction.opcode());
    for (Operand operand : instruction.operands()) {
      key.append('/');
      if (operand instanceof Operand.Part(_, String selector, boolean negated)) {
        key.append(negated ? "-" : "").append(selector);
      }
    }
    return key.toString();
  }

  private Op scalar(Assembler a) throws Unsupported {
    boolean sets = instruction.name().equals("vset");
    ScalarType result = sets ? ScalarType.U32 : types.getFirst();
    if (types.size() != (sets ? 2 : 3)) {
      throw Unsupported.malformed("types are missing");
    }
    Part x = part(1, types.get(sets ? 0 : 1), a);
    Part y = part(2, types.get(sets ? 1 : 2), a);
    if (x.negated || y.negated) {
      throw new Unsupported(
          "operand negation not allowed for instruction '%s'".formatted(instruction.name()));
    }
    LongBinaryOperator first = operation();
    Operand to = instruction.operands().getFirst();
    String into = to instanceof Operand.Part part ? part.selector() : "";
    int width = bits(into);
    int at = into.isEmpty() ? 0 : width * (into.charAt(1) - '0');
    String second =
        instruction.modifiers().stream().filter(SECOND::contains).findFirst().orElse("");
    boolean hasThird = instruction.operands().size() == 4;
    if (hasThird == (second.isEmpty() && into.isEmpty()) || at >= Integer.SIZE) {
      throw Unsupported.malformed(
          "a third source goes with .add, .min, .max or a part of the result");
    }
    boolean signed = result.signed();
    boolean saturates = has("sat");
    LongTernaryOperator f =
        (r, s, c) -> {
          long value = first.applyAsLong(x.of(r), y.of(s));
          value = saturates ? saturated(value, width, signed) : value;
          long third = number(c, Integer.SIZE, signed);
          long whole =
              switch (second) {
                case "add" -> value + third;
                case "min" -> Math.min(number(value, Integer.SIZE, signed), third);
                case "max" -> Math.max(number(value, Integer.SIZE, signed), third);
                default -> value;
              };
          long field = ((1L << width) - 1) << at;
          return (into.isEmpty() ? whole : ((whole << at) & field) | (c & ~field)) & U32;
        };
    int d = to instanceof Operand.Part part ? a.slot(part.register()) : a.result(to);
    int c = hasThird ? a.source(instruction.operands().get(3), ScalarType.B32) : x.slot;
    return TernaryOp.of(key(), f, d, x.slot, y.slot, c);
  }

  private static long saturated(long value, int bits, boolean signed) {
    long most = (1L << (signed ? bits - 1 : bits)) - 1;
    return Math.clamp(value, signed ? -most - 1 : 0, most);
  }

  private LongBinaryOperator operation() throws Unsupported {
    String name = instruction.name().replaceAll("[24]$", "");
    return switch (name) {
      case "vadd" -> Long::sum;
      case "vsub" -> (x, y) -> x - y;
      case "vabsdiff" -> (x, y) -> Math.abs(x - y);
      case "vmin" -> Math::min;
      case "vmax" -> Math::max;
      case "vavrg" -> (x, y) -> (x + y + (x + y >= 0 ? 1 : 0)) >> 1;
      case "vshl" -> has("wrap") ? (x, y) -> x << (y & 31) : (x, y) -> x << Math.min(y & U32, 32);
      case "vshr" -> has("wrap") ? (x, y) -> x >> (y & 31) : (x, y) -> x >> Math.min(y & U32, 32);
      case "vset" -> comparison();
      default -> throw new Unsupported("this form is not supported");
    };
  }

  private LongBinaryOperator comparison() throws Unsupported {
    for (String modifier : instruction.modifiers()) {
      switch (modifier) {
        case "eq" -> {
          return (x, y) -> x == y ? 1 : 0;
        }
        case "ne" -> {
          return (x, y) -> x != y ? 1 : 0;
        }
        case "lt" -> {
          return (x, y) -> x < y ? 1 : 0;
        }
        case "le" -> {
          return (x, y) -> x <= y ? 1 : 0;
        }
        case "gt" -> {
          return (x, y) -> x > y ? 1 : 0;
        }
        case "ge" -> {
          return (x, y) -> x >= y ? 1 : 0;
        }
        default -> {}
      }
    }
    throw Unsupported.malformed("a comparison is missing");
  }

  private Op multiply(Assembler a) throws Unsupported {
    if (types.size() != 3) {
      throw Unsupported.malformed("types are missing");
    }
    Part x = part(1, types.get(1), a);
    Part y = part(2, types.get(2), a);
    boolean product = x.negated ^ y.negated;
    boolean signed = x.signed || y.signed;
    Part z = part(3, signed || product ? ScalarType.S32 : types.getFirst(), a);
    boolean plusOne = has("po");
    if (plusOne && (product || z.negated)) {
      throw Unsupported.malformed(".po and a negated operand exclude each other");
    }
    int scale = has("shr7") ? 7 : has("shr15") ? 15 : 0;
    boolean saturates = has("sat");
    boolean result = types.getFirst().signed();
    LongTernaryOperator f =
        (r, s, t) -> {
          BigInteger sum = BigInteger.valueOf(x.of(r)).multiply(BigInteger.valueOf(y.of(s)));
          BigInteger third = BigInteger.valueOf(z.of(t));
          sum = product ? sum.negate() : sum;
          sum = sum.add(z.negated ? third.negate() : third);
          sum = (plusOne ? sum.add(BigInteger.ONE) : sum).shiftRight(scale);
          if (saturates) {
            BigInteger most = BigInteger.ONE.shiftLeft(result ? 31 : 32).subtract(BigInteger.ONE);
            BigInteger least = result ? most.not() : BigInteger.ZERO;
            sum = sum.min(most).max(least);
          }
          return sum.longValue() & U32;
        };
    return TernaryOp.of(
        key(), f, a.result(instruction.operands().getFirst()), x.slot, y.slot, z.slot);
  }

  private Op lanes(Assembler a) throws Unsupported {
    int lanes = instruction.name().endsWith("2") ? 2 : 4;
    boolean sets = instruction.name().startsWith("vset");
    ScalarType result = sets ? ScalarType.U32 : types.getFirst();
    if (types.size() != (sets ? 2 : 3) || instruction.operands().size() != 4) {
      throw Unsupported.malformed("types or operands are missing");
    }
    boolean firstSigned = types.get(sets ? 0 : 1).signed();
    boolean secondSigned = types.get(sets ? 1 : 2).signed();
    int bits = Integer.SIZE / lanes;
    int[] ones = selected(1, lanes, 0);
    int[] others = selected(2, lanes, lanes);
    LongBinaryOperator operation = operation();
    boolean adds = has("add");
    boolean saturates = has("sat");
    boolean signed = result.signed();
    Operand to = instruction.operands().getFirst();
    List<Integer> written = written(to, lanes);
    LongTernaryOperator f =
        (r, s, c) -> {
          long both = (r & U32) | (s << Integer.SIZE);
          long whole = c;
          for (int lane : written) {
            long value =
                operation.applyAsLong(
                    number(both >>> (ones[lane] * bits), bits, firstSigned),
                    number(both >>> (others[lane] * bits), bits, secondSigned));
            value = saturates ? saturated(value, bits, signed) : number(value, bits, signed);
            long field = ((1L << bits) - 1) << (lane * bits);
            whole = adds ? whole + value : (whole & ~field) | ((value << (lane * bits)) & field);
          }
          return whole & U32;
        };
    return TernaryOp.of(
        key(),
        f,
        to instanceof Operand.Part part ? a.slot(part.register()) : a.result(to),
        slot(1, a),
        slot(2, a),
        a.source(instruction.operands().get(3), ScalarType.B32));
  }

  private int slot(int index, Assembler a) throws Unsupported {
    Operand operand = instruction.operands().get(index);
    return operand instanceof Operand.Part part
        ? a.slot(part.register())
        : a.source(operand, ScalarType.B32);
  }

  /** Returns the lane of both sources, the second above the first, that a lane takes. */
  private int[] selected(int index, int lanes, int first) throws Unsupported {
    if (!(instruction.operands().get(index)
        instanceof Operand.Part(_, String selector, boolean negated))) {
      return IntStream.range(first, first + lanes).toArray();
    }
    if (negated || selector.length() != 1 + lanes || bits(selector) * lanes != Integer.SIZE) {
      throw new Unsupported(
          "lanes are selected by .%s and %d digits".formatted(lanes == 2 ? "h" : "b", lanes));
    }
    int[] from = new int[lanes];
    for (int lane = 0; lane < lanes; lane++) {
      from[lane] = selector.charAt(lanes - lane) - '0';
    }
    return from;
  }

  /** The lanes of the result that are written, the others are those of the third source. */
  private static List<Integer> written(Operand to, int lanes) throws Unsupported {
    List<Integer> written = new ArrayList<>();
    String selector = to instanceof Operand.Part part ? part.selector() : "";
    for (int lane = 0; lane < lanes; lane++) {
      if (selector.isEmpty() || selector.indexOf('0' + lane) > 0) {
        written.add(lane);
      }
    }
    if (!selector.isEmpty()
        && (bits(selector) * lanes != Integer.SIZE || written.size() != selector.length() - 1)) {
      throw new Unsupported(
          "no lanes .%s of the result".formatted(selector.toLowerCase(Locale.ROOT)));
    }
    return List.copyOf(written);
  }
}
