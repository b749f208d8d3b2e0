package dev.doorbell.experiments.fuzz;

import java.util.List;

/**
 * The inputs of one target by outcome.
 *
 * @param crashes that are no clear problem, of any kind; {@link #findings} has one of each kind
 * @param slowestNanos wall time of the slowest input
 * @param findings those that differ
 */
public record FuzzResult(
    String target,
    long inputs,
    long accepted,
    long refused,
    long crashes,
    long hangs,
    long memoryChanges,
    long slowestNanos,
    long wallNanos,
    List<FuzzFinding> findings) {
  public FuzzResult {
    findings = List.copyOf(findings);
  }

  /** Returns true if every input was read or refused. */
  public boolean stood() {
    return crashes + hangs + memoryChanges == 0;
  }
}
