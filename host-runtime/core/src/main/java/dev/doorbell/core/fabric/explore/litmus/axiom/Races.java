package dev.doorbell.core.fabric.explore.litmus.axiom;

import java.util.SortedSet;
import java.util.TreeSet;

/** Data races of an execution (PTX ISA 9.0, 8.7.1). */
final class Races {
  private Races() {}

  /** Conflicting accesses that are neither ordered by causality nor morally strong. */
  static SortedSet<String> of(Candidate candidate, Relation causality) {
    SortedSet<String> races = new TreeSet<>();
    for (int a = 0; a < candidate.events.size(); a++) {
      for (int b = a + 1; b < candidate.events.size(); b++) {
        Event one = candidate.events.get(a);
        Event other = candidate.events.get(b);
        if (conflict(one, other)
            && !candidate.strong.has(a, b)
            && !causality.has(a, b)
            && !causality.has(b, a)) {
          races.add(one.where() + " and " + other.where());
        }
      }
    }
    return races;
  }

  private static boolean conflict(Event a, Event b) {
    return !a.isInitial()
        && a.isMemory()
        && a.location() == b.location()
        && (a.writes() || b.writes());
  }
}
