package dev.doorbell.experiments.workbench.explore;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.adapter.Promise;
import dev.doorbell.core.adapter.Promises;
import dev.doorbell.core.fabric.explore.Coverage;
import dev.doorbell.experiments.workbench.explore.Nic.Remedy;
import dev.doorbell.experiments.workbench.explore.Scenario.ScenarioException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Explores one scenario on several adapters, and what of a finding each remedy removes. */
final class NicComparison {
  private static final Explorer.Report NOTHING =
      new Explorer.Report(List.of(), List.of(), 0, 0, 0, 0, 0, new Coverage());

  private final Laboratory laboratory;
  private final Scenario scenario;

  public NicComparison(Laboratory laboratory, Scenario scenario) {
    this.laboratory = laboratory;
    this.scenario = scenario;
  }

  /** The result for an adapter. */
  public enum Verdict {
    /** Nothing was found. */
    CLEAN,
    /** Something was found. */
    FOUND,
    /** The kernel needs an operation that the adapter has not. */
    REFUSED,
    /** No run came to its end. */
    UNFINISHED
  }

  /**
   * An adapter's row.
   *
   * @param remedies those with which nothing is found
   * @param tried those that were explored
   * @param refusal why nothing was run; empty if something was
   */
  public record Row(
      Nic nic,
      Explorer.Report report,
      List<Remedy> remedies,
      List<Remedy> tried,
      Optional<Laboratory.Refusal> refusal) {
    public Verdict verdict() {
      if (refusal.isPresent()) {
        return Verdict.REFUSED;
      }
      if (!report.isClean()) {
        return lacks().isPresent() ? Verdict.REFUSED : Verdict.FOUND;
      }
      return report.finished() > 0 ? Verdict.CLEAN : Verdict.UNFINISHED;
    }

    /** Returns why the adapter is refused, in words; empty if it is not. */
    public Optional<String> refused() {
      return refusal.map(Laboratory.Refusal::what).or(() -> lacks().map(need -> "needs " + need));
    }

    /** Returns what the kernel needs and the adapter has not; empty if there is nothing. */
    private Optional<String> lacks() {
      if (remedies.contains(Remedy.ATOMICS)) {
        return Optional.of("atomics");
      }
      boolean refused =
          nic.adapter().promises().queues() != Promise.Queues.MLX5
              && report.races().isEmpty()
              && report.failures().stream()
                  .anyMatch(found -> found.what().text().contains(Failure.NOT_EXPRESSIBLE));
      return refused ? Optional.of("atomics") : Optional.empty();
    }

    /** Returns what was found most often. */
    public Optional<String> finding() {
      if (!report.races().isEmpty()) {
        return Optional.of(report.races().getFirst().what().kind().what());
      }
      return report.failures().stream()
          .findFirst()
          .map(found -> found.what().text().split("\n", 2)[0]);
    }

    /** Returns the shortest schedule of what was found most often. */
    public Optional<Schedule> schedule() {
      return report.races().isEmpty()
          ? report.failures().stream().findFirst().map(Explorer.Found::schedule)
          : Optional.of(report.races().getFirst().schedule());
    }
  }

  /**
   * Explores the scenario on an adapter; where something is found, with each remedy alone.
   *
   * @param seeds runs of each exploration
   * @param nanos of wall time at most, a quarter of it for the remedies
   */
  public Row explore(Nic nic, int seeds, long nanos) throws ScenarioException {
    Optional<Laboratory.Refusal> refusal = laboratory.refusal(scenario.with(nic));
    if (refusal.isPresent()) {
      return new Row(nic, NOTHING, List.of(), List.of(), refusal);
    }
    long end = System.nanoTime() + nanos;
    Explorer.Report report = explorer(nic).explore(seeds, nanos - nanos / 4);
    List<Remedy> helping = new ArrayList<>();
    List<Remedy> tried = report.isClean() ? List.of() : remedies(nic.adapter());
    for (int i = 0; i < tried.size(); i++) {
      Remedy remedy = tried.get(i);
      long left = Math.max(1, end - System.nanoTime());
      Explorer.Report fixed = explorer(nic.with(remedy)).explore(seeds, left / (tried.size() - i));
      if (fixed.isClean() && fixed.finished() > 0) {
        helping.add(remedy);
      }
    }
    return new Row(nic, report, List.copyOf(helping), tried, Optional.empty());
  }

  /** Returns the remedies that change anything on {@code adapter}. */
  private static List<Remedy> remedies(Adapter adapter) {
    Promises promises = adapter.promises();
    List<Remedy> all = new ArrayList<>();
    boolean anyOrder = promises.placement() == Promise.Placement.ANY_ORDER;
    boolean relaxed = promises.posted() == Promise.Posted.RELAXED;
    boolean mlx5 = promises.queues() == Promise.Queues.MLX5;
    if (promises.fenceBit() == Promise.FenceBit.NONE) {
      all.add(Remedy.ACKNOWLEDGED);
    }
    if (mlx5 && (anyOrder || relaxed)) {
      all.add(Remedy.FENCE_BIT);
      all.add(Remedy.STRICT_KEY);
    }
    if (promises.visibility() == Promise.Visibility.AFTER_READ) {
      all.add(Remedy.READ_FLUSH);
    }
    if (mlx5 && anyOrder) {
      all.add(Remedy.ORDERED_PLACEMENT);
    }
    if (mlx5 && promises.atomics() == Promise.Atomics.REFUSED) {
      all.add(Remedy.ATOMICS);
    }
    return all;
  }

  private Explorer explorer(Nic nic) {
    return new Explorer(laboratory, scenario.with(nic));
  }
}
