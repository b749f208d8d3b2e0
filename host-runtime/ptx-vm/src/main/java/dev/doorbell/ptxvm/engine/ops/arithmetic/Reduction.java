package dev.doorbell.ptxvm.engine.ops.arithmetic;

import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.ptxvm.ir.ScalarType;
import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;

/** How values of one type become one: {@code add}, {@code min} and their kin, in any number. */
public final class Reduction {
  private final LongUnaryOperator first;
  private final LongBinaryOperator join;
  private final LongUnaryOperator result;

  private Reduction(LongUnaryOperator first, LongBinaryOperator join, LongUnaryOperator result) {
    this.first = first;
    this.join = join;
    this.result = result;
  }

  /**
   * The reduction of values of {@code type}, or of the halves of its pairs.
   *
   * @param single sums of 16-bit floats are kept in f32 and rounded once
   */
  public static Reduction of(String operation, ScalarType type, boolean single) {
    ScalarType element = type.family() == ScalarType.Family.PACKED ? HalfRows.half(type) : type;
    if (single) {
      return new Reduction(
          bits -> HalfRows.widen(element, bits),
          (sum, bits) -> Rmw.ADD_F32.apply(sum, Float.BYTES, HalfRows.widen(element, bits), 0),
          sum -> HalfRows.round(element, Float.intBitsToFloat((int) sum)));
    }
    boolean half = element == ScalarType.F16 || element == ScalarType.BF16;
    LongBinaryOperator join =
        half && !operation.equals("add")
            ? HalfRows.extreme(element, operation.equals("max"))
            : of(operation, element);
    return new Reduction(LongUnaryOperator.identity(), join, LongUnaryOperator.identity());
  }

  private static LongBinaryOperator of(String operation, ScalarType type) {
    boolean signed = type.signed();
    Rmw rmw =
        switch (operation) {
          case "and" -> Rmw.AND;
          case "or" -> Rmw.OR;
          case "xor" -> Rmw.XOR;
          case "min" -> signed ? Rmw.MIN_SIGNED : Rmw.MIN_UNSIGNED;
          case "max" -> signed ? Rmw.MAX_SIGNED : Rmw.MAX_UNSIGNED;
          default ->
              switch (type) {
                case F16 -> Rmw.ADD_F16;
                case BF16 -> Rmw.ADD_BF16;
                case F32 -> Rmw.ADD_F32;
                case F64 -> Rmw.ADD_F64;
                default -> Rmw.ADD;
              };
        };
    return (a, b) -> rmw.apply(a, type.bytes(), b, 0);
  }

  /** What stands for the first value. */
  public long first(long value) {
    return first.applyAsLong(value);
  }

  /** The same with one value more. */
  public long join(long partial, long value) {
    return join.applyAsLong(partial, value);
  }

  /** The value that it stands for. */
  public long result(long partial) {
    return result.applyAsLong(partial);
  }
}
