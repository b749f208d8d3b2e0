package dev.doorbell.push;

import java.util.List;

/** An invariant of the push protocol does not hold. Its message ends with what happened before. */
public final class PushViolation extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  private final String invariant;

  PushViolation(String invariant, String what, List<PushEvent> history) {
    super(text(invariant, what, history));
    this.invariant = invariant;
  }

  /** Which one: I1 to I6, or L1. */
  public String invariant() {
    return invariant;
  }

  private static String text(String invariant, String what, List<PushEvent> history) {
    StringBuilder text = new StringBuilder(invariant).append(" does not hold: ").append(what);
    text.append("\nwhat happened before, last first:");
    for (PushEvent event : history.reversed()) {
      text.append("\n  ").append(event);
    }
    return text.toString();
  }
}
