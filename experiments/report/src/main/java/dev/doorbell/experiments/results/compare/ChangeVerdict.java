package dev.doorbell.experiments.results.compare;

import dev.doorbell.experiments.results.compare.RunComparison.Rules;
import dev.doorbell.experiments.stats.Change;
import dev.doorbell.experiments.stats.Interval;
import java.util.Collection;
import java.util.Optional;

/** Verdicts on a change, from the least to the one that decides about all. */
public enum ChangeVerdict {
  /** The samples could well come from one distribution, and are enough to have shown otherwise. */
  NO_CHANGE("no change"),
  /** They do not, but their medians differ by less than what counts. */
  WITHIN_NOISE("within noise"),
  /** Better by more than what counts. */
  IMPROVED("improved"),
  /** Too few samples: no test of them could have found anything. */
  UNDECIDED("undecided"),
  /** Worse by more than what counts. */
  REGRESSED("REGRESSED");

  private final String text;

  ChangeVerdict(String text) {
    this.text = text;
  }

  public String text() {
    return text;
  }

  /**
   * Judges samples by a test.
   *
   * @param p of the rank test, corrected for all that were made
   * @param least the smallest p that samples of these numbers could have had, corrected likewise
   * @param better which direction counts as better
   */
  static ChangeVerdict tested(
      Change change, double p, double least, Direction better, Rules rules) {
    if (least >= rules.alpha()) {
      return UNDECIDED;
    }
    Optional<Interval> interval = change.interval();
    boolean different = p < rules.alpha() && !interval.map(ci -> ci.contains(0)).orElse(false);
    return different ? sized(change, better, rules) : NO_CHANGE;
  }

  /** Judges samples that a repetition would give again: the size of the change decides. */
  static ChangeVerdict sized(Change change, Direction better, Rules rules) {
    if (change.relative() == 0) {
      return NO_CHANGE;
    }
    if (Math.abs(change.relative()) <= rules.threshold()) {
      return WITHIN_NOISE;
    }
    return change.relative() > 0 == (better == Direction.HIGHER) ? IMPROVED : REGRESSED;
  }

  /**
   * The verdict on all: one regression is a regression, and without one a point that could not be
   * decided leaves the whole undecided.
   */
  static ChangeVerdict overall(Collection<ChangeVerdict> verdicts) {
    return verdicts.stream().max(ChangeVerdict::compareTo).orElse(NO_CHANGE);
  }

  /** Direction in which values of a metric become better. */
  public enum Direction {
    LOWER,
    HIGHER
  }
}
