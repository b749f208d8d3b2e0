package dev.doorbell.core.fabric.explore.litmus.axiom;

import dev.doorbell.core.fabric.explore.litmus.LitmusTest.Bounds;

/** Stops a search when the wall time of its bounds has passed, however deep it is. */
final class Budget {
  private static final int BETWEEN_CLOCK_READS = 256;

  private final Bounds bounds;
  private int steps;

  /** The search has taken all of its time. */
  static final class ExhaustedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ExhaustedException() {
      super("the time of the search has passed", null, false, false);
    }
  }

  Budget(Bounds bounds) {
    this.bounds = bounds;
  }

  /** Takes a step of the search. */
  void step() {
    if (++steps % BETWEEN_CLOCK_READS == 0 && bounds.isOver()) {
      throw new ExhaustedException();
    }
  }
}
