package dev.doorbell.experiments.workbench.explore;

import dev.doorbell.core.fabric.explore.search.SystematicSearch;
import dev.doorbell.core.fabric.explore.search.SystematicSearch.TraceStep;
import dev.doorbell.experiments.workbench.explore.Laboratory.Extent;
import dev.doorbell.experiments.workbench.explore.Laboratory.Outcome;
import dev.doorbell.experiments.workbench.explore.Scenario.ScenarioException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Goes through all executions of a small scenario, or up to the first that violates something. */
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
   * @param violation the run that violates something, with its steps; empty where none does
   * @param shortest no step of the violation can be left out
   * @param executions runs to their end, each another one
   * @param cut runs that were left since another one shows the same
   * @param complete there is no other execution
   * @param nanos wall time
   */
  public record Proof(
      Optional<Outcome> violation,
      boolean shortest,
      long executions,
      long cut,
      boolean complete,
      long nanos) {}

  /**
   * Searches.
   *
   * @param budgetNanos of wall time
   */
  public Proof prove(long budgetNanos) throws ScenarioException {
    long start = System.nanoTime();
    long end = start + budgetNanos;
    SystematicSearch search = new SystematicSearch(true, false);
    boolean more = true;
    while (more) {
      long left = end - System.nanoTime();
      if (left <= 0) {
        return proof(search, Optional.empty(), false, start);
      }
      search.begin();
      Outcome outcome = laboratory.run(scenario, search, Extent.of(left));
      if (outcome.isFinding()) {
        List<TraceStep> trace = search.trace();
        search.end();
        return shortest(search, outcome, trace, start, end);
      }
      if (System.nanoTime() < end) {
        more = search.end();
      }
    }
    return proof(search, Optional.empty(), false, start);
  }

  private static Proof proof(
      SystematicSearch search, Optional<Outcome> violation, boolean shortest, long start) {
    return new Proof(
        violation,
        shortest,
        search.executions(),
        search.cut(),
        search.complete(),
        System.nanoTime() - start);
  }

  /** Leaves out steps, many at once first, for as long as the run shows the same. */
  private Proof shortest(
      SystematicSearch search, Outcome found, List<TraceStep> trace, long start, long end)
      throws ScenarioException {
    Outcome best = found;
    List<TraceStep> steps = trace;
    int tries = 0;
    boolean all = !found.races().isEmpty();
    for (int size = steps.size() / 2; all && size >= 1; ) {
      boolean shorter = false;
      for (int from = steps.size() - size; from >= 0; from -= size) {
        long left = end - System.nanoTime();
        if (left <= 0 || tries++ == TRIES) {
          return proof(search, Optional.of(best), false, start);
        }
        List<TraceStep> fewer = new ArrayList<>(steps.subList(0, from));
        fewer.addAll(steps.subList(from + size, steps.size()));
        search.beginScripted(fewer);
        Outcome outcome = laboratory.run(scenario, search, Extent.of(left));
        List<TraceStep> taken = search.trace();
        search.end();
        if (taken.size() < steps.size() && showsTheSame(found, outcome)) {
          steps = taken;
          best = outcome;
          shorter = true;
          from = Math.min(from, steps.size());
        }
      }
      size = shorter ? Math.min(size, Math.max(1, steps.size() / 2)) : size / 2;
    }
    return proof(search, Optional.of(best), all, start);
  }

  private static boolean showsTheSame(Outcome found, Outcome other) {
    String key = found.races().getFirst().key();
    return other.races().stream().anyMatch(race -> race.key().equals(key));
  }
}
