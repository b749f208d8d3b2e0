package dev.doorbell.experiments.run;

import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.Quantity;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.OptionalDouble;
import java.util.SequencedMap;

/**
 * One finished point as tables and figures see it.
 *
 * @param pointId as in the plan
 * @param axes axis name to value, in the order of the config
 * @param metrics metric name to its samples, in the order of the config
 * @param counters scalars by name
 * @param seed of the point; statistics that draw (bootstrap) start from it
 */
public record SummaryRow(
    String pointId,
    SequencedMap<String, Value> axes,
    SequencedMap<String, MetricRow> metrics,
    SequencedMap<String, Quantity> counters,
    long seed) {

  public SummaryRow {
    axes = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(axes));
    metrics = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(metrics));
    counters = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(counters));
  }

  /** Returns the median of a sampled metric, or a counter; empty where the point has neither. */
  public OptionalDouble value(String metric) {
    MetricRow samples = metrics.get(metric);
    if (samples != null && samples.samples().size() > 0) {
      return OptionalDouble.of(samples.summary(seed).median());
    }
    Quantity counter = counters.get(metric);
    return counter == null ? OptionalDouble.empty() : OptionalDouble.of(counter.value());
  }
}
