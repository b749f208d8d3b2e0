package dev.doorbell.experiments.config.formula;

/**
 * A part of a formula. Both methods give the same number where it is whole; they differ in division
 * and in how large numbers overflow.
 */
interface Node {
  /** The value in 64-bit signed arithmetic. */
  long whole(Frame frame);

  /** The value in double precision. */
  double real(Frame frame);

  /** A number that stands in the text. */
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

  /** A variable, by its place in the frame. */
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

  /** One of two values. */
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

  /** An operator with one operand or two; of one, both are the same. */
  record Operation(Operator operator, Node left, Node right) implements Node {
    @Override
    public long whole(Frame frame) {
      return operator.whole(left.whole(frame), right.whole(frame));
    }

    @Override
    public double real(Frame frame) {
      return operator.real(left.real(frame), right.real(frame));
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
}
