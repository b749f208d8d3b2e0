package dev.doorbell.experiments.config.formula;

import java.util.Arrays;
import java.util.Optional;
import java.util.function.DoubleBinaryOperator;
import java.util.function.LongBinaryOperator;

/**
 * A part of a formula. Both methods give the same number where it is whole; they differ in division
 * and in how large numbers overflow.
 */
interface Node {
  long whole(Frame frame);

  double real(Frame frame);

  record Literal(double value) implements Node {
    @Override
    public long whole(Frame frame) {
      return (long) value;
    }

    @Override
    public double real(Frame frame) {
      return value;
    }
  }

  record Variable(int place) implements Node {
    @Override
    public long whole(Frame frame) {
      return frame.whole(place);
    }

    @Override
    public double real(Frame frame) {
      return frame.real(place);
    }
  }

  /** An element of an array of some rank. */
  record Element(int array, Node rank, Node index) implements Node {
    @Override
    public long whole(Frame frame) {
      return frame.array(array).whole(rank.whole(frame), index.whole(frame));
    }

    @Override
    public double real(Frame frame) {
      return frame.array(array).real(rank.whole(frame), index.whole(frame));
    }
  }

  /** A number from 0 to 2^31 - 1 that depends on the seed, the rank and the argument alone. */
  record Random(Node of) implements Node {
    @Override
    public long whole(Frame frame) {
      return frame.random(of.whole(frame));
    }

    @Override
    public double real(Frame frame) {
      return whole(frame);
    }
  }

  record Choice(Node condition, Node then, Node otherwise) implements Node {
    @Override
    public long whole(Frame frame) {
      return (condition.whole(frame) != 0 ? then : otherwise).whole(frame);
    }

    @Override
    public double real(Frame frame) {
      return (condition.real(frame) != 0 ? then : otherwise).real(frame);
    }
  }

  /** An operator with one operand or two; of one, both are the same, and it is evaluated once. */
  @SuppressWarnings("ReferenceEquality")
  record Operation(Operator operator, Node left, Node right) implements Node {
    @Override
    public long whole(Frame frame) {
      long first = left.whole(frame);
      return operator.whole(first, left == right ? first : right.whole(frame));
    }

    @Override
    public double real(Frame frame) {
      double first = left.real(frame);
      return operator.real(first, left == right ? first : right.real(frame));
    }
  }

  /** An operator over the values that a term takes while a variable counts from 0. */
  record Fold(Operator operator, int place, Node count, Node term) implements Node {
    @Override
    public long whole(Frame frame) {
      long result = 0;
      long count = this.count.whole(frame);
      for (long k = 0; k < count; k++) {
        frame.set(place, k);
        long value = term.whole(frame);
        result = k == 0 ? value : operator.whole(result, value);
      }
      return result;
    }

    @Override
    public double real(Frame frame) {
      double result = 0;
      long count = this.count.whole(frame);
      for (long k = 0; k < count; k++) {
        frame.set(place, k);
        double value = term.real(frame);
        result = k == 0 ? value : operator.real(result, value);
      }
      return result;
    }
  }

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

    /** The longest operator between two operands that a text has at an offset. */
    static Optional<Operator> between(String text, int at) {
      return Arrays.stream(values())
          .filter(operator -> operator.binding > 0 && text.startsWith(operator.text, at))
          .max((a, b) -> Integer.compare(a.text.length(), b.text.length()));
    }

    String text() {
      return text;
    }

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
}
