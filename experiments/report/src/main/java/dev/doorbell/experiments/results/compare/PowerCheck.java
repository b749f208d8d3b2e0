package dev.doorbell.experiments.results.compare;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.results.compare.RunComparison.Rules;
import dev.doorbell.experiments.results.print.Units;
import dev.doorbell.experiments.run.JournalEntry;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.RunIndex;
import dev.doorbell.experiments.stats.SampleSize;
import dev.doorbell.experiments.stats.Summary.Processes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * Computes how often a run would have to repeat its points so that a comparison with a baseline
 * finds a change of a given size, from how much the baseline's samples vary.
 */
public final class PowerCheck {
  private static final double POWER = 0.8;

  private PowerCheck() {}

  private record Worst(String point, int samples, int had) {}

  /**
   * A line for each metric.
   *
   * @param effect relative change of a median that is to be seen, above 0
   * @throws RunException when samples of the baseline cannot be read
   */
  public static List<String> lines(
      RunIndex baseline, ExperimentConfig config, Basis basis, double effect, Rules rules)
      throws RunException {
    String percent = Units.digits(effect * 100, 3) + " %";
    boolean sameSeed = baseline.plan().config().seed() == config.seed();
    if (basis == Basis.MODELLED && sameSeed) {
      return List.of(
          "power    virtual time repeats exactly with seed %d: the size of a change decides, and any"
                  .formatted(config.seed())
              + " of %s is seen".formatted(percent));
    }
    if (basis != Basis.MODELLED && baseline.processes() == 1) {
      return List.of(
          "power    one process says nothing of how others differ: run the baseline with"
              + " --processes 5");
    }
    SequencedMap<String, Worst> worst = new LinkedHashMap<>();
    int tests = 0;
    for (JournalEntry entry : baseline.results().values()) {
      tests += baseline.values(entry, _ -> true).size();
    }
    for (JournalEntry entry : baseline.results().values()) {
      for (Map.Entry<String, RunIndex.Values> each : baseline.values(entry, _ -> true).entrySet()) {
        double[] samples = each.getValue().samples();
        if (samples.length == 0) {
          continue;
        }
        if (basis != Basis.MODELLED && baseline.processes() > 1) {
          samples = Processes.medians(samples, baseline.processes());
        }
        int needed = SampleSize.toSee(effect, samples, tests, rules.alpha(), POWER);
        Worst last = worst.get(each.getKey());
        if (last == null || needed > last.samples()) {
          worst.put(each.getKey(), new Worst(entry.point(), needed, samples.length));
        }
      }
    }
    boolean wall = basis != Basis.MODELLED;
    int repeated = wall ? 1 : Math.max(1, baseline.plan().config().measure().repeat());
    List<String> lines = new ArrayList<>();
    worst.forEach(
        (metric, point) -> {
          double once = wall ? 1 : Math.max(1, (double) point.had() / repeated);
          lines.add(
              "power    to see %s of %s you need %s a point in each run: --%s %d (most at %s)"
                  .formatted(
                      percent,
                      metric,
                      wall
                          ? "%d processes".formatted(point.samples())
                          : Units.count(point.samples(), "sample"),
                      wall ? "processes" : "repeat",
                      (int) Math.ceil(point.samples() / once),
                      point.point()));
        });
    lines.add(
        "         with %.0f %% chance, alpha %s over %s; noise as in the baseline"
            .formatted(100 * POWER, rules.alpha(), Units.count(tests, "test")));
    return lines;
  }
}
