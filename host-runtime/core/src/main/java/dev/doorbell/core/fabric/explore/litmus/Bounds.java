package dev.doorbell.core.fabric.explore.litmus;

/**
 * How far a search goes.
 *
 * @param rounds how often a backward branch is taken in one trace of a thread
 * @param candidates how many candidate executions (traces, reads-from, barriers) are judged
 */
public record Bounds(int rounds, long candidates) {
  /** Enough for everything that fits a screen. */
  public static final Bounds USUAL = new Bounds(2, 5_000_000);
}
