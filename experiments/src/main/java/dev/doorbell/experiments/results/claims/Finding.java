package dev.doorbell.experiments.results.claims;

import java.util.OptionalDouble;

/**
 * What became of a claim.
 *
 * @param value of its expression, where it has one
 * @param why in words: what was found, or what stands in the way
 */
public record Finding(Claim claim, Verdict verdict, OptionalDouble value, String why) {

  /** How it ended. */
  public enum Verdict {
    REPRODUCED("reproduced"),
    NOT_REPRODUCED("NOT REPRODUCED"),
    NOT_TESTABLE("not testable here");

    private final String text;

    Verdict(String text) {
      this.text = text;
    }

    /** As tables say it. */
    public String text() {
      return text;
    }
  }
}
