package dev.doorbell.experiments.config.formula;

import java.util.ArrayList;
import java.util.List;

/** Values of the names in formulas. Not safe for use by several threads. */
public final class Frame {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private final Formula.Names names;
  private final double[] reals;
  private final long[] wholes;
  private final List<Array> arrays = new ArrayList<>();
  private final long seed;
  private long rank;

  /** Elements that formulas may read. */
  public interface Array {
    long whole(long rank, long index);

    double real(long rank, long index);
  }

  /**
   * Values for formulas of these names, all zero.
   *
   * @param seed of {@code random}
   */
  public Frame(Formula.Names names, long seed) {
    this.names = names;
    this.seed = seed;
    int places = names.variables().size() + Formula.MOST_BOUND;
    this.reals = new double[places];
    this.wholes = new long[places];
  }

  public Frame set(String variable, double value) {
    int place = names.variables().indexOf(variable);
    reals[place] = value;
    wholes[place] = (long) value;
    if (variable.equals(Formula.RANK)) {
      rank = (long) value;
    }
    return this;
  }

  public void add(Array array) {
    arrays.add(array);
  }

  /** Gives the variable at a place a whole value. */
  public void set(int place, long value) {
    wholes[place] = value;
    reals[place] = value;
  }

  long whole(int place) {
    return wholes[place];
  }

  double real(int place) {
    return reals[place];
  }

  Array array(int place) {
    return arrays.get(place);
  }

  /** The finalizer of SplitMix64 over seed, rank and number. */
  long random(long number) {
    long mixed = (seed ^ rank * 0xD1B54A32D192ED03L) + (number + 1) * GOLDEN;
    mixed = (mixed ^ mixed >>> 30) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ mixed >>> 27) * 0x94D049BB133111EBL;
    return (mixed ^ mixed >>> 31) >>> 33;
  }
}
