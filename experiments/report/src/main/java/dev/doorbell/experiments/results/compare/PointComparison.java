package dev.doorbell.experiments.results.compare;

import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.stats.Change;
import dev.doorbell.experiments.stats.SampleWarning;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.OptionalDouble;
import java.util.SequencedMap;

/**
 * One metric at one point of two runs.
 *
 * @param axes the settings by which the points were matched
 * @param p of the rank test, corrected for all tests of the comparison; empty where samples repeat
 *     exactly and no test is made
 * @param before samples of the first run
 * @param after samples of the second
 * @param warnings what speaks against the test, of either run
 */
public record PointComparison(
    SequencedMap<String, Value> axes,
    String metric,
    String unit,
    int before,
    int after,
    Change change,
    OptionalDouble p,
    ChangeVerdict verdict,
    List<SampleWarning> warnings) {

  public PointComparison {
    axes = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(axes));
    warnings = List.copyOf(warnings);
  }

  /** Returns true if both runs have several samples, which do not vary in either. */
  boolean constant() {
    return Math.min(before, after) > 1 && change.constant();
  }

  PointComparison judged(OptionalDouble corrected, ChangeVerdict judgement) {
    return new PointComparison(
        axes, metric, unit, before, after, change, corrected, judgement, warnings);
  }
}
