package dev.doorbell.experiments.plan;

import dev.doorbell.core.fault.FaultCount;
import dev.doorbell.core.problem.Problem;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Number of times that a fault of the plan happened.
 *
 * @param fault as its author wrote it
 * @param mustFire a run in which it never happened has failed
 * @param events that it could have struck
 * @param fired how many of them it did
 */
public record FaultTally(String fault, boolean mustFire, long events, long fired) {
  /** True when the fault had to happen and did not. */
  public boolean missed() {
    return mustFire && fired == 0;
  }

  /** Returns why a fault that was {@link #missed} fails its run. */
  public Problem problem() {
    String what =
        events == 0
            ? "a fault that must fire never met an event that it is meant for"
            : String.format(
                Locale.ROOT,
                "a fault that must fire did not, in %,d events that it is meant for",
                events);
    return Problem.of("DB-F007", fault, what)
        .effect("the run has failed: what it was to show was not provoked")
        .fix("look at its 'at', 'after', 'target' and 'opcode'; doc: docs/faults.md");
  }

  /** Counters of a point's devices. */
  public static List<FaultTally> of(List<FaultCount> counts) {
    return counts.stream()
        .map(
            count ->
                new FaultTally(
                    count.fault().text(), count.fault().mustFire(), count.events(), count.fired()))
        .toList();
  }

  /** The tallies of several points of one plan, added up fault by fault. */
  public static List<FaultTally> total(List<List<FaultTally>> points) {
    List<FaultTally> sums = new ArrayList<>();
    for (List<FaultTally> point : points) {
      for (int i = 0; i < point.size(); i++) {
        FaultTally more = point.get(i);
        if (i == sums.size()) {
          sums.add(more);
        } else {
          sums.set(i, sums.get(i).plus(more));
        }
      }
    }
    return sums;
  }

  private FaultTally plus(FaultTally more) {
    return new FaultTally(fault, mustFire, events + more.events, fired + more.fired);
  }
}
