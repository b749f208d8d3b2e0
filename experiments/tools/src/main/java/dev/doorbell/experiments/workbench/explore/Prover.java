package dev.doorbell.experiments.workbench.explore;

import dev.doorbell.core.fabric.explore.search.SystematicSearch;
import dev.doorbell.core.fabric.explore.search.SystematicSearch.TraceStep;
import dev.doorbell.experiments.workbench.explore.Laboratory.Extent;
import dev.doorbell.experiments.workbench.explore.Laboratory.Outcome;
import dev.doorbell.experiments.workbench.explore.Scenario.ScenarioException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Goes through all executions of a small scenario, and keeps the shortest that violates something.
 */
public final class Prover {
  /** Runs that may be spent on a shorter trace. */
  private static final int TRIES = 2000;

  private final Laboratory laboratory;
  private final Scenario scenario;

  public Prover(Laboratory laboratory, Scenario scenario) {
    this.laboratory = laboratory;
    this.scenario = scenario;
  }

  /**
   * The result of a search.
   *
   * @param violation the run that violates something in the fewest steps; empty where none does
   * @param minimal no step of the violation can be left out
   * @param executions runs to their end, each another one
   * @param cut runs that were left since another one shows the same
   * @param complete there is no other execution
   * @param nanos wall time
   */
  public record Proof(
      Optional<Outcome> violation,
      boolean minimal,
      long executions,
      long cut,
      boolean complete,
      long nanos) {}

  /** A run that violates something, and its steps. */
  private record Violation(Outcome outcome, List<TraceStep> steps, boolean minimal) {
    /** Returns true if {@code other} has all these steps, with more between them. */
    boolean isPartOf(Outcome other) {
      List<String> mine = outcome.lastTurns();
      int met = 0;
      for (String step : other.lastTurns()) {
        met += met < mine.size() && step.equals(mine.get(met)) ? 1 : 0;
      }
      return met == mine.size();
    }
  }

  /**
   * Searches, and goes on behind a violation, for a shorter trace.
   *
   * @param budgetNanos of wall time
   */
  public Proof prove(long budgetNanos) throws ScenarioException {
    long start = System.nanoTime();
    long end = start + budgetNanos;
    SystematicSearch search = new SystematicSearch(true, false);
    Violation best = null;
    for (boolean more = true; more && System.nanoTime() < end; ) {
      search.begin();
      Outcome outcome =
          laboratory.run(scenario, search, Extent.of(Math.max(1, end - System.nanoTime())));
      List<TraceStep> trace = outcome.isFinding() ? search.trace() : List.of();
      if (outcome.isFinding() || System.nanoTime() < end) {
        more = search.end();
      }
      if (outcome.isFinding() && (best == null || !best.isPartOf(outcome))) {
        Violation other = shortened(search, new Violation(outcome, trace, false), end);
        best = best == null || other.steps.size() < best.steps.size() ? other : best;
      }
    }
    return new Proof(
        Optional.ofNullable(best).map(Violation::outcome),
        best != null && best.minimal,
        search.executions(),
        search.cut(),
        search.complete(),
        System.nanoTime() - start);
  }

  /** Leaves out steps, many at once first, for as long as the run shows the same race. */
  private Violation shortened(SystematicSearch search, Violation found, long end)
      throws ScenarioException {
    if (found.outcome.races().isEmpty()) {
      return found;
    }
    String key = found.outcome.races().getFirst().key();
    Violation best = found;
    int tries = 0;
    for (int size = found.steps.size() / 2; size >= 1; ) {
      int before = best.steps.size();
      for (int from = before - size; from >= 0; from = Math.min(from, best.steps.size()) - size) {
        long left = end - System.nanoTime();
        if (left <= 0 || tries++ == TRIES) {
          return best;
        }
        List<TraceStep> fewer = new ArrayList<>(best.steps.subList(0, from));
        fewer.addAll(best.steps.subList(from + size, best.steps.size()));
        search.beginScripted(fewer);
        Outcome outcome = laboratory.run(scenario, search, Extent.of(left));
        List<TraceStep> taken = search.trace();
        search.end();
        if (taken.size() < best.steps.size()
            && outcome.races().stream().anyMatch(race -> race.key().equals(key))) {
          best = new Violation(outcome, taken, false);
        }
      }
      size =
          best.steps.size() < before
              ? Math.min(size, Math.max(1, best.steps.size() / 2))
              : size / 2;
    }
    return new Violation(best.outcome, best.steps, true);
  }
}
