package dev.doorbell.experiments.workbench.explore;

import dev.doorbell.core.agent.ForwardProgress;
import dev.doorbell.core.fabric.explore.Coverage;
import dev.doorbell.core.fabric.explore.model.CalmChooser;
import dev.doorbell.experiments.workbench.explore.Laboratory.Outcome;
import dev.doorbell.experiments.workbench.explore.Scenario.ScenarioException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Runs a scenario with many seeds, and reports each race and each failure once. */
public final class Explorer {
  /** The most findings of each kind that get shorter schedules, and the most runs for each. */
  private static final int SHORTENED = 4;

  private static final int TRIES = 24;
  private static final int FINEST = 16;

  /** The approximate number of choices in a turn. */
  private static final int CHOICES_A_TURN = 3;

  private final Laboratory laboratory;
  private final Scenario scenario;

  public Explorer(Laboratory laboratory, Scenario scenario) {
    this.laboratory = laboratory;
    this.scenario = scenario;
  }

  /**
   * A race or a failure, with the shortest schedule that shows it.
   *
   * @param what as it occurred in that run
   * @param seeds the number of runs in which it occurred
   */
  public record Found<T>(T what, Schedule schedule, int seeds) {
    private Found<T> merge(Found<T> other) {
      Found<T> shorter = other.schedule.turns() < schedule.turns() ? other : this;
      return new Found<>(shorter.what, shorter.schedule, seeds + other.seeds);
    }
  }

  /**
   * The result of an exploration.
   *
   * @param races each once, most frequent first
   * @param failures kernels that failed, hung or moved wrong bytes; each once, most frequent first
   * @param runs started
   * @param finished of these runs; the others ran out of time
   * @param found runs with any finding
   * @param coverage of all runs together
   */
  public record Report(
      List<Found<Race>> races,
      List<Found<Failure>> failures,
      int runs,
      int finished,
      int found,
      long instructions,
      long nanos,
      Coverage coverage) {
    /** Returns true if nothing was found. */
    public boolean isClean() {
      return found == 0;
    }

    /**
     * Returns true if the kernel refuses this world: all runs ended with the status of an operation
     * that cannot be expressed.
     */
    public boolean isRefused() {
      return runs > 0
          && races.isEmpty()
          && failures.stream().mapToInt(Found::seeds).sum() == runs
          && failures.stream().allMatch(failed -> failed.what().isRefusal());
    }
  }

  /** When an exploration ends, besides by its wall time. */
  public record Until(int seeds, boolean covered) {
    /** Runs without anything new after which nothing new is expected. */
    private static final int QUIET = 50;

    private boolean isOver(int runs, int quiet, Coverage coverage) {
      return covered ? runs > 0 && (coverage.isWhole() || quiet >= QUIET) : runs >= seeds;
    }
  }

  /**
   * Explores.
   *
   * @param seeds runs at most; their seeds are 1, 2, ...
   * @param budgetNanos of wall time for all of them
   */
  public Report explore(int seeds, long budgetNanos) throws ScenarioException {
    return explore(new Until(seeds, false), budgetNanos);
  }

  /**
   * Explores.
   *
   * @param until the number of runs, or that all is covered; seeds are 1, 2, ...
   * @param budgetNanos of wall time for all of them
   */
  public Report explore(Until until, long budgetNanos) throws ScenarioException {
    long start = System.nanoTime();
    Findings all = new Findings();
    int quiet = 0;
    for (int seed = 1; !until.isOver(all.runs, quiet, all.coverage); seed++) {
      long left = start + budgetNanos - System.nanoTime();
      if (left <= 0) {
        break;
      }
      long covered = all.coverage.amount();
      all.add(laboratory.run(scenario, seed, Laboratory.Extent.of(left)), scenario, seed);
      quiet = all.coverage.amount() > covered ? 0 : quiet + 1;
    }
    long deadline = start + budgetNanos;
    return all.report(
        sorted(all.races, deadline, Explorer::race),
        sorted(all.failures, deadline, Explorer::failure),
        System.nanoTime() - start);
  }

  /** The findings of several runs, each once. */
  public static final class Findings {
    private final Map<String, Found<Race>> races = new LinkedHashMap<>();
    private final Map<String, Found<Failure>> failures = new LinkedHashMap<>();
    private final Coverage coverage = new Coverage();
    private int runs;
    private int finished;
    private int found;
    private long instructions;

    public void add(Outcome outcome, Object of, long seed) {
      runs++;
      coverage.add(outcome.coverage());
      finished += outcome.finished() ? 1 : 0;
      found += outcome.isFinding() ? 1 : 0;
      instructions += outcome.instructions();
      Map<String, Race> inThisRun = new LinkedHashMap<>();
      for (Race race : outcome.races()) {
        inThisRun.merge(race.key(), race, (a, b) -> b.turns() < a.turns() ? b : a);
      }
      for (Race race : inThisRun.values()) {
        Schedule schedule = Schedule.of(of, seed, race.turns());
        races.merge(race.key(), new Found<>(race, schedule, 1), Found::merge);
      }
      Failure failure = outcome.failure();
      if (failure != null) {
        Schedule schedule = Schedule.of(of, seed, outcome.turns());
        failures.merge(failure.key(), new Found<>(failure, schedule, 1), Found::merge);
      }
    }

    /** Returns the report of all runs, with their findings as they came. */
    public Report report() {
      return report(List.copyOf(races.values()), List.copyOf(failures.values()), 0);
    }

    private Report report(List<Found<Race>> raced, List<Found<Failure>> failed, long nanos) {
      return new Report(raced, failed, runs, finished, found, instructions, nanos, coverage);
    }
  }

  /**
   * Returns the progress that the kernel relies on and that no launch like its own is promised: it
   * ends while all threads go on, and fails where some do not.
   *
   * @param budgetNanos of wall time for all runs
   */
  public List<Reliance> relies(long budgetNanos) throws ScenarioException {
    List<Reliance> found = new ArrayList<>();
    long end = System.nanoTime() + budgetNanos;
    if (scenario.load().blocks() > 1 && !scenario.program().shape().cooperative()) {
      if (!relies(Reliance.Kind.BLOCKS_TOGETHER, ForwardProgress.BLOCKS_ASCENDING, end, found)) {
        relies(Reliance.Kind.BLOCK_ORDER, ForwardProgress.BLOCKS_DESCENDING, end, found);
      }
    }
    if (scenario.load().threads() > 1) {
      if (!relies(Reliance.Kind.LANES_APART, ForwardProgress.LANES_ASCENDING, end, found)) {
        relies(Reliance.Kind.LANES_APART, ForwardProgress.LANES_DESCENDING, end, found);
      }
    }
    return found;
  }

  private boolean relies(
      Reliance.Kind kind, ForwardProgress progress, long end, List<Reliance> found)
      throws ScenarioException {
    long left = end - System.nanoTime();
    Failure failure =
        left <= 0
            ? null
            : laboratory.run(scenario, 1, Laboratory.Extent.of(left).with(progress)).failure();
    if (failure != null) {
      found.add(new Reliance(kind, failure));
    }
    return failure != null;
  }

  /** Finds a finding again in another run. */
  private interface Search<T> {
    @Nullable Sighting<T> find(Outcome outcome, String key);
  }

  /** A finding in a run, and the number of turns after which the run shows it. */
  private record Sighting<T>(T what, long turns) {}

  private static @Nullable Sighting<Race> race(Outcome outcome, String key) {
    for (Race race : outcome.races()) {
      if (race.key().equals(key)) {
        return new Sighting<>(race, race.turns());
      }
    }
    return null;
  }

  private static @Nullable Sighting<Failure> failure(Outcome outcome, String key) {
    Failure failure = outcome.failure();
    return failure != null && failure.key().equals(key)
        ? new Sighting<>(failure, outcome.turns())
        : null;
  }

  private <T> List<Found<T>> sorted(Map<String, Found<T>> findings, long deadline, Search<T> search)
      throws ScenarioException {
    List<Map.Entry<String, Found<T>>> sorted = new ArrayList<>(findings.entrySet());
    sorted.sort((a, b) -> Integer.compare(b.getValue().seeds(), a.getValue().seeds()));
    List<Found<T>> result = new ArrayList<>();
    for (Map.Entry<String, Found<T>> each : sorted) {
      result.add(
          result.size() < SHORTENED
              ? shortest(each.getKey(), each.getValue(), deadline, search)
              : each.getValue());
    }
    return result;
  }

  /**
   * Returns the same finding with a simpler and shorter schedule: stretches of choices are made as
   * a simple machine makes them, large stretches first, and stay so if the finding occurs no later
   * (delta debugging).
   */
  private <T> Found<T> shortest(String key, Found<T> first, long deadline, Search<T> search)
      throws ScenarioException {
    Found<T> best = first;
    int tries = 0;
    for (int parts = 2; parts <= FINEST && tries < TRIES; parts *= 2) {
      long size = Math.max(1, best.schedule().turns() * CHOICES_A_TURN / parts);
      for (int part = 0; part < parts && tries < TRIES; part++) {
        long left = deadline - System.nanoTime();
        if (left <= 0) {
          return best;
        }
        CalmChooser.Stretch stretch = new CalmChooser.Stretch(part * size, (part + 1) * size);
        Schedule calmer = best.schedule().calmed(stretch, best.schedule().turns());
        if (calmer.equals(best.schedule())) {
          continue;
        }
        tries++;
        Outcome outcome =
            laboratory.run(scenario, calmer, new Laboratory.Extent(left, calmer.turns(), 0));
        Sighting<T> sighting = search.find(outcome, key);
        if (sighting != null) {
          best = new Found<>(sighting.what(), calmer.upTo(sighting.turns()), best.seeds());
        }
      }
    }
    return best;
  }

  /**
   * Runs a schedule again.
   *
   * @param lastTurns how many of its last turns the outcome describes
   */
  public Outcome replay(Schedule schedule, int lastTurns, long budgetNanos)
      throws ScenarioException {
    return laboratory.run(
        scenario, schedule, new Laboratory.Extent(budgetNanos, schedule.turns(), lastTurns));
  }

  /**
   * Progress of threads that a clean kernel relies on without a promise.
   *
   * @param failure of the run without that progress
   */
  public record Reliance(Kind kind, Failure failure) {
    /** A promise that the kernel relies on. */
    public enum Kind {
      /** Its blocks run at the same time. */
      BLOCKS_TOGETHER(
          "with one block after the other",
          "blocks run at the same time in cooperative launches alone"),
      /** Its blocks begin in the order of their numbers. */
      BLOCK_ORDER(
          "with one block after the other, the last one first",
          "no order of blocks is promised, and hardware begins with the first"),
      /** The lanes of a warp go on apart from each other. */
      LANES_APART(
          "while one lane of a warp keeps the others from going on",
          "each thread of a block goes on from sm_70 on, not before");

      private final String when;
      private final String promise;

      Kind(String when, String promise) {
        this.when = when;
        this.promise = promise;
      }

      /** Returns when it fails. */
      public String when() {
        return when;
      }

      public String promise() {
        return promise;
      }
    }
  }
}
