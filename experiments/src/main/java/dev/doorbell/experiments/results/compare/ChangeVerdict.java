package dev.doorbell.experiments.results.compare;

import dev.doorbell.experiments.stats.Change;
import java.util.Collection;

/** What a change amounts to. */
public enum ChangeVerdict {
  /** The samples could well come from one distribution. */
  NO_CHANGE("no change"),
  /** They do not, but their medians differ by less than what counts. */
  WITHIN_NOISE("within noise"),
  /** Better by more than what counts. */
  IMPROVED("improved"),
  /** Worse by more than what counts. */
  REGRESSED("REGRESSED");

  private final String text;

  ChangeVerdict(String text) {
    this.text = text;
  }

  /** As tables say it. */
  public String text() {
    return text;
  }

  /**
   * Judges one point.
   *
   * @param p of its rank test, corrected for all that were made
   * @param alpha below which samples count as different
   * @param threshold relative change of the median that counts
   */
  static ChangeVerdict of(
      Change change, double p, Direction better, double alpha, double threshold) {
    boolean different = p < alpha && !change.interval().contains(0);
    if (!different) {
      return NO_CHANGE;
    }
    if (Math.abs(change.relative()) <= threshold) {
      return WITHIN_NOISE;
    }
    return change.relative() > 0 == (better == Direction.HIGHER) ? IMPROVED : REGRESSED;
  }

  /** The verdict on all: one regression is a regression. */
  static ChangeVerdict overall(Collection<ChangeVerdict> verdicts) {
    return verdicts.stream().max(ChangeVerdict::compareTo).orElse(NO_CHANGE);
  }

  /** Which values of a metric are better. */
  public enum Direction {
    LOWER,
    HIGHER;

    /** Rates are better high, everything else (times, shares, counts) low. */
    static Direction of(String unit) {
      return unit.endsWith("/s") || unit.endsWith("/ns") ? HIGHER : LOWER;
    }
  }
}
