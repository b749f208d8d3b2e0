package dev.doorbell.proxy;

/**
 * How the WQEs of a queue pair are chained behind one doorbell.
 *
 * @param most WQEs of a chain: a doorbell is rung at the latest after this number
 * @param oneCompletion only the last WQE of a chain asks for a CQE; else the last one of each
 *     command
 */
public record Chaining(int most, boolean oneCompletion) {
  /** A doorbell for all that was found in a round, and a CQE for each command. */
  public static final Chaining BY_ROUND = new Chaining(Integer.MAX_VALUE, false);

  public Chaining {
    if (most < 1) {
      throw new IllegalArgumentException("a chain has at least one WQE, not %d".formatted(most));
    }
  }

  /** Up to {@code most} WQEs with one doorbell and one CQE. */
  public static Chaining of(int most) {
    return new Chaining(most, most > 1);
  }
}
