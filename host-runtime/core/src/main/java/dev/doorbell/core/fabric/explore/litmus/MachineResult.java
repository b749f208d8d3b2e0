package dev.doorbell.core.fabric.explore.litmus;

import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * What the machine that explores kernels shows of a test.
 *
 * @param shown outcomes that meet the test's filter, and in how many runs each
 * @param deadlocks runs in which threads waited at a barrier for ever
 * @param conflicts whether the machine reported anything
 * @param runs how many there were; 0 for a test of proxies, which the machine does not have
 * @param complete every choice was tried, loops aside
 */
public record MachineResult(
    SortedMap<Outcome, Long> shown,
    long deadlocks,
    boolean conflicts,
    long runs,
    boolean complete) {

  /** Outcomes that the axioms forbid: a fault of the machine. */
  public SortedSet<Outcome> wrong(LitmusResult axioms) {
    SortedSet<Outcome> wrong = new TreeSet<>(shown.keySet());
    wrong.removeAll(axioms.allowed().keySet());
    return wrong;
  }

  /** Outcomes that the axioms allow and the machine cannot show: a limit of it; none if not run. */
  public SortedSet<Outcome> missed(LitmusResult axioms) {
    if (runs == 0) {
      return new TreeSet<>();
    }
    SortedSet<Outcome> missed = new TreeSet<>(axioms.allowed().keySet());
    missed.removeAll(shown.keySet());
    return missed;
  }
}
