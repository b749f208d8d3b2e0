package dev.doorbell.core.fabric.explore.litmus;

import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;

/**
 * What the axioms say about a test.
 *
 * @param allowed outcomes, and in how many executions each
 * @param forbidden outcomes whose values fit together, but which no execution may have, and the
 *     axioms that forbid them
 * @param deadlocks executions in which threads wait at a barrier for ever, by who waits where
 * @param spinning executions in which threads go round a loop for ever although every thread is
 *     scheduled again and again and every write reaches strong reads in the end, by who stays where
 * @param races pairs of accesses that are in a data race in some allowed execution
 * @param candidates how many candidate executions were judged
 * @param cut loops go round more often than was followed
 * @param complete everything within that was judged
 * @param holds whether the claim does, for what was judged
 */
public record LitmusResult(
    LitmusTest test,
    SortedMap<Outcome, Long> allowed,
    SortedMap<Outcome, Set<Axiom>> forbidden,
    SortedMap<String, Long> deadlocks,
    SortedMap<String, Long> spinning,
    SortedSet<String> races,
    long candidates,
    boolean cut,
    boolean complete,
    boolean holds) {

  /** How many executions are allowed. */
  public long executions() {
    return allowed.values().stream().mapToLong(Long::longValue).sum();
  }

  /**
   * Whether more searching could not change the verdict: a search that stopped early has still
   * found what it found.
   */
  public boolean conclusive() {
    return complete || (test.quantifier() == Quantifier.EXISTS) == holds;
  }
}
