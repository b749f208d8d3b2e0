package dev.doorbell.experiments.config.formula;

import java.util.Arrays;
import java.util.Optional;
import java.util.function.DoubleBinaryOperator;
import java.util.function.LongBinaryOperator;

/** The operators of formulas, as in C; those of bits cut decimal numbers to whole ones first. */
@SuppressWarnings("ImmutableEnumChecker") // functions without state
enum Operator {
  OR("||", 1, (a, b) -> bit(a != 0 || b != 0)),
  AND("&&", 2, (a, b) -> bit(a != 0 && b != 0)),
  BIT_OR("|", 3, (a, b) -> a | b),
  BIT_XOR("^", 4, (a, b) -> a ^ b),
  BIT_AND("&", 5, (a, b) -> a & b),
  EQUAL("==", 6, (a, b) -> bit(a == b), (a, b) -> bit(a == b)),
  DIFFERENT("!=", 6, (a, b) -> bit(a != b), (a, b) -> bit(a != b)),
  LESS("<", 7, (a, b) -> bit(a < b), (a, b) -> bit(a < b)),
  AT_MOST("<=", 7, (a, b) -> bit(a <= b), (a, b) -> bit(a <= b)),
  MORE(">", 7, (a, b) -> bit(a > b), (a, b) -> bit(a > b)),
  AT_LEAST(">=", 7, (a, b) -> bit(a >= b), (a, b) -> bit(a >= b)),
  LEFT("<<", 8, (a, b) -> a << b),
  RIGHT(">>", 8, (a, b) -> a >> b),
  PLUS("+", 9, (a, b) -> a + b, (a, b) -> a + b),
  MINUS("-", 9, (a, b) -> a - b, (a, b) -> a - b),
  TIMES("*", 10, (a, b) -> a * b, (a, b) -> a * b),
  OVER("/", 10, (a, b) -> a / b, (a, b) -> a / b),
  MODULO("%", 10, (a, b) -> a % b, (a, b) -> a % b),
  MIN("min", 0, Math::min, Math::min),
  MAX("max", 0, Math::max, Math::max),
  NEGATE("-", 0, (a, _) -> -a, (a, _) -> -a),
  NOT("!", 0, (a, _) -> bit(a == 0), (a, _) -> bit(a == 0)),
  COMPLEMENT("~", 0, (a, _) -> ~a),
  ABSOLUTE("abs", 0, (a, _) -> Math.abs(a), (a, _) -> Math.abs(a));

  private final String text;
  private final int binding;
  private final LongBinaryOperator wholes;
  private final DoubleBinaryOperator reals;

  /** An operator of bits and truth. */
  Operator(String text, int binding, LongBinaryOperator wholes) {
    this(text, binding, wholes, (a, b) -> wholes.applyAsLong((long) a, (long) b));
  }

  Operator(String text, int binding, LongBinaryOperator wholes, DoubleBinaryOperator reals) {
    this.text = text;
    this.binding = binding;
    this.wholes = wholes;
    this.reals = reals;
  }

  private static long bit(boolean yes) {
    return yes ? 1 : 0;
  }

  /** The longest operator between two operands that a text begins with. */
  static Optional<Operator> between(String text) {
    return Arrays.stream(values())
        .filter(operator -> operator.binding > 0 && text.startsWith(operator.text))
        .max((a, b) -> Integer.compare(a.text.length(), b.text.length()));
  }

  String text() {
    return text;
  }

  /** How tightly it binds its operands, from 1. */
  int binding() {
    return binding;
  }

  long whole(long left, long right) {
    return wholes.applyAsLong(left, right);
  }

  double real(double left, double right) {
    return reals.applyAsDouble(left, right);
  }
}
