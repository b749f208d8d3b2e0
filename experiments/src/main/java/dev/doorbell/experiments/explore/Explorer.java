package dev.doorbell.experiments.explore;

import dev.doorbell.core.fabric.explore.CalmChooser;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Runs a scenario with many seeds, and tells each race once. */
public final class Explorer {
  /** How many of the races get shorter schedules, and how many runs each gets for it. */
  private static final int SHORTENED = 4;

  private static final int TRIES = 24;
  private static final int FINEST = 16;

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
   * @param seeds in how many runs anything of that kind happened
   */
  public record Trouble(String text, Schedule schedule, int seeds) {}

  /**
   * What came of it.
   *
   * @param races each once, those seen in most runs first
   * @param troubles the shortest first
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
    List<Trouble> troubles = new ArrayList<>();
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
      for (Race race : outcome.races()) {
        Schedule schedule = Schedule.of(scenario, seed, race.turns());
        races.merge(race.key(), new Found(race, schedule, 1), Explorer::shorter);
      }
      String trouble = outcome.trouble();
      if (trouble != null) {
        troubles.add(new Trouble(trouble, Schedule.of(scenario, seed, outcome.turns()), 1));
      }
    }
    List<Found> sorted = new ArrayList<>(races.values());
    sorted.sort((a, b) -> Integer.compare(b.seeds(), a.seeds()));
    for (int i = 0; i < Math.min(SHORTENED, sorted.size()); i++) {
      sorted.set(i, shortened(sorted.get(i), start + budgetNanos));
    }
    return new Report(
        sorted, shortest(troubles), runs, finished, found, instructions, System.nanoTime() - start);
  }

  /**
   * The same race with a calmer and shorter schedule: stretches of choices are calmed, large ones
   * first, and stay so while the race comes up no later (delta debugging).
   */
  private Found shortened(Found found, long deadline) throws ScenarioException {
    Found best = found;
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
        for (Race race : outcome.races()) {
          if (race.key().equals(best.race().key())) {
            best = new Found(race, calmer.upTo(race.turns()), best.seeds());
            break;
          }
        }
      }
    }
    return best;
  }

  private static Found shorter(Found a, Found b) {
    Found shorter = b.schedule().turns() < a.schedule().turns() ? b : a;
    return new Found(shorter.race(), shorter.schedule(), a.seeds() + b.seeds());
  }

  private static List<Trouble> shortest(List<Trouble> troubles) {
    if (troubles.isEmpty()) {
      return List.of();
    }
    Trouble first = troubles.getFirst();
    for (Trouble trouble : troubles) {
      first = trouble.schedule().turns() < first.schedule().turns() ? trouble : first;
    }
    return List.of(new Trouble(first.text(), first.schedule(), troubles.size()));
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
                  ? report.troubles().getFirst().text()
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
