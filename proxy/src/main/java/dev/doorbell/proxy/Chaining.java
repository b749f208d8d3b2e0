package dev.doorbell.proxy;

/**
 * Chains of a queue pair's WQEs behind one doorbell.
 *
 * @param most WQEs of a chain: a doorbell is rung at the latest after this number
 * @param oneCompletion only the last WQE of a chain asks for a CQE; else the last one of each
 *     command
 * @param adaptive chains begin with one WQE, double while a queue has more commands than they take,
 *     and are halved when no queue has half as many
 */
public record Chaining(int most, boolean oneCompletion, boolean adaptive) {
  /** A doorbell for all that was found in a round, and a CQE for each command. */
  public static final Chaining BY_ROUND = new Chaining(Integer.MAX_VALUE, false, false);

  public Chaining {
    if (most < 1) {
      throw new IllegalArgumentException("a chain has at least one WQE, not %d".formatted(most));
    }
  }

  /** Up to {@code most} WQEs with one doorbell and one CQE. */
  public static Chaining of(int most) {
    return new Chaining(most, most > 1, false);
  }

  /** Chains as {@link #of}, as long as the commands that are there make it. */
  public static Chaining adaptive(int most) {
    return new Chaining(most, most > 1, true);
  }

  /** The most commands that a queue gives up in the first round. */
  int first() {
    return adaptive ? 1 : most;
  }

  /**
   * The most commands that a queue gives up in the next round, if one gave up {@code longest} in
   * this.
   */
  int next(int now, int longest) {
    if (!adaptive) {
      return most;
    }
    if (longest >= now) {
      return Math.min(most, now << 1);
    }
    return longest < now >> 1 ? Math.max(1, now >> 1) : now;
  }
}
