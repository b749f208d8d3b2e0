package dev.doorbell.experiments.workbench.explore;

import dev.doorbell.core.fabric.explore.model.CalmChooser;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Runs a scenario with many seeds, and tells each race once. */
public final class Explorer {
  /** How many of the races get shorter schedules, and how many runs each gets for it. */
  private static final int SHORTENED = 4;

  private static final int TRIES = 24;
  private static final int FINEST = 16;
  private static final long NEVER = -1;

  /** About as many choices are made in a turn. */
  private static final int CHOICES_A_TURN = 3;

  private static final Pattern FENCE = Pattern.compile("\\b(fence|membar)[.:\\w]*\\s*;");

  private final Laboratory laboratory;
  private final Scenario scenario;

  public Explorer(Laboratory laboratory, Scenario scenario) {
    this.laboratory = laboratory;
    this.scenario = scenario;
  }

  /**
   * A race, and where it is seen soonest.
   *
   * @param race as it came up in that run
   * @param schedule the shortest found
   * @param seeds in how many runs it came up
   */
  public record Found(Race race, Schedule schedule, int seeds) {}

  /**
   * A kernel that failed, hung, or moved wrong bytes.
   *
   * @param failure as it came up in that run
   * @param schedule the shortest found
   * @param seeds in how many runs it came up
   */
  public record Trouble(Failure failure, Schedule schedule, int seeds) {}

  /**
   * What came of it.
   *
   * @param races each once, those seen in most runs first
   * @param troubles each once, those seen in most runs first
   * @param runs begun
   * @param finished of them: the others ran out of time
   * @param found runs with any finding
   */
  public record Report(
      List<Found> races,
      List<Trouble> troubles,
      int runs,
      int finished,
      int found,
      long instructions,
      long nanos) {
    /** True when nothing was found, and something was looked at. */
    public boolean isClean() {
      return found == 0;
    }
  }

  /**
   * Explores.
   *
   * @param seeds runs at most; their seeds are 1, 2, ...
   * @param budgetNanos of wall time for all of them
   */
  public Report explore(int seeds, long budgetNanos) throws ScenarioException {
    long start = System.nanoTime();
    Map<String, Found> races = new LinkedHashMap<>();
    Map<String, Trouble> troubles = new LinkedHashMap<>();
    int runs = 0;
    int finished = 0;
    int found = 0;
    long instructions = 0;
    for (int seed = 1; seed <= seeds; seed++) {
      long left = start + budgetNanos - System.nanoTime();
      if (left <= 0) {
        break;
      }
      Outcome outcome = laboratory.run(scenario, seed, Laboratory.Extent.of(left));
      runs++;
      finished += outcome.finished() ? 1 : 0;
      found += outcome.isFinding() ? 1 : 0;
      instructions += outcome.instructions();
      Map<String, Race> inThisRun = new LinkedHashMap<>();
      for (Race race : outcome.races()) {
        inThisRun.merge(race.key(), race, (a, b) -> b.turns() < a.turns() ? b : a);
      }
      for (Race race : inThisRun.values()) {
        Schedule schedule = Schedule.of(scenario, seed, race.turns());
        races.merge(race.key(), new Found(race, schedule, 1), Explorer::shorter);
      }
      Failure failure = outcome.failure();
      if (failure != null) {
        Schedule schedule = Schedule.of(scenario, seed, outcome.turns());
        troubles.merge(failure.key(), new Trouble(failure, schedule, 1), Explorer::shorter);
      }
    }
    List<Found> sorted = new ArrayList<>(races.values());
    sorted.sort((a, b) -> Integer.compare(b.seeds(), a.seeds()));
    for (int i = 0; i < Math.min(SHORTENED, sorted.size()); i++) {
      sorted.set(i, shortened(sorted.get(i), start + budgetNanos));
    }
    List<Trouble> failures = new ArrayList<>(troubles.values());
    failures.sort((a, b) -> Integer.compare(b.seeds(), a.seeds()));
    for (int i = 0; i < Math.min(SHORTENED, failures.size()); i++) {
      failures.set(i, shortened(failures.get(i), start + budgetNanos));
    }
    return new Report(
        sorted, failures, runs, finished, found, instructions, System.nanoTime() - start);
  }

  private Found shortened(Found found, long deadline) throws ScenarioException {
    String key = found.race().key();
    Shortest shortest = shortest(found.schedule(), deadline, outcome -> turns(outcome, key));
    Outcome last = shortest.outcome();
    if (last == null) {
      return found;
    }
    Race race =
        last.races().stream().filter(one -> one.key().equals(key)).findFirst().orElseThrow();
    return new Found(race, shortest.schedule(), found.seeds());
  }

  private Trouble shortened(Trouble trouble, long deadline) throws ScenarioException {
    String key = trouble.failure().key();
    Shortest shortest =
        shortest(
            trouble.schedule(),
            deadline,
            outcome -> {
              Failure failure = outcome.failure();
              return failure != null && failure.key().equals(key) ? outcome.turns() : NEVER;
            });
    Outcome last = shortest.outcome();
    Failure failure = last == null ? null : last.failure();
    return failure == null ? trouble : new Trouble(failure, shortest.schedule(), trouble.seeds());
  }

  private static long turns(Outcome outcome, String key) {
    for (Race race : outcome.races()) {
      if (race.key().equals(key)) {
        return race.turns();
      }
    }
    return NEVER;
  }

  /**
   * A calmer schedule and its run.
   *
   * @param outcome null when none is calmer than the first
   */
  private record Shortest(Schedule schedule, @Nullable Outcome outcome) {}

  /**
   * The same finding with a calmer and shorter schedule: stretches of choices are calmed, large
   * ones first, and stay so while the finding comes up no later (delta debugging).
   *
   * @param turns after how many turns a run shows it, or {@link #NEVER}
   */
  private Shortest shortest(Schedule first, long deadline, ToLongFunction<Outcome> turns)
      throws ScenarioException {
    Shortest best = new Shortest(first, null);
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
        long shown = turns.applyAsLong(outcome);
        if (shown != NEVER) {
          best = new Shortest(calmer.upTo(shown), outcome);
        }
      }
    }
    return best;
  }

  private static Found shorter(Found a, Found b) {
    Found shorter = b.schedule().turns() < a.schedule().turns() ? b : a;
    return new Found(shorter.race(), shorter.schedule(), a.seeds() + b.seeds());
  }

  private static Trouble shorter(Trouble a, Trouble b) {
    Trouble shorter = b.schedule().turns() < a.schedule().turns() ? b : a;
    return new Trouble(shorter.failure(), shorter.schedule(), a.seeds() + b.seeds());
  }

  /**
   * Runs a schedule again.
   *
   * @param told how many of its last turns are told
   */
  public Outcome replay(Schedule schedule, int told, long budgetNanos) throws ScenarioException {
    return laboratory.run(
        scenario, schedule, new Laboratory.Extent(budgetNanos, schedule.turns(), told));
  }

  /**
   * What becomes of the kernel without one of its fences.
   *
   * @param nanos what all its executions of one run cost by the price list
   * @param needed true when its removal was observed
   * @param witness the first race without it, or empty
   */
  public record FenceVerdict(
      Outcome.Fence fence, double nanos, boolean needed, String witness, int runs) {}

  /**
   * Removes each fence that a run executes, one at a time, and explores what is left.
   *
   * @param seeds runs for each fence
   */
  public List<FenceVerdict> fences(int seeds, long budgetNanos) throws ScenarioException {
    long end = System.nanoTime() + budgetNanos;
    Outcome whole = laboratory.run(scenario, 1, Laboratory.Extent.of(budgetNanos));
    List<FenceVerdict> verdicts = new ArrayList<>();
    int left = whole.fences().size();
    for (Outcome.Fence fence : whole.fences()) {
      long share = Math.max(1, (end - System.nanoTime()) / left--);
      Scenario without = scenario.with(without(scenario.program(), fence.place().line()));
      Report report = new Explorer(laboratory, without).explore(seeds, share);
      String witness =
          report.isClean()
              ? ""
              : report.races().isEmpty()
                  ? report.troubles().getFirst().failure().text()
                  : report.races().getFirst().race().kind().what();
      verdicts.add(
          new FenceVerdict(
              fence,
              fence.count() * laboratory.fenceNanos(fence.system()),
              !report.isClean(),
              witness,
              report.runs()));
    }
    return verdicts;
  }

  /** The program without the fence in {@code line}; other lines keep their numbers. */
  static Scenario.Program without(Scenario.Program program, int line) {
    String[] lines = program.ptx().split("\n", -1);
    lines[line - 1] = FENCE.matcher(lines[line - 1]).replaceFirst("");
    return program.with(String.join("\n", lines));
  }
}
