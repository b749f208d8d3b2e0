package dev.doorbell.experiments.figures;

import dev.doorbell.experiments.config.Contrast;
import dev.doorbell.experiments.config.Value;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.run.MetricRow;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.SummaryRow;
import dev.doorbell.experiments.stats.Crossover;
import dev.doorbell.experiments.stats.Crossover.Lead;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Crossovers of the pairs that a run's config asks about, the same for its figures and its tables.
 */
public final class Crossovers {

  private Crossovers() {}

  /**
   * The crossover of a pair at one value of the contrast's {@code by} axis, over the sizes that
   * both lines have. With fewer than two of those there is nothing to compare: no crossings, and
   * neither leads.
   */
  public static Crossover of(RunData run, Contrast contrast, String by) {
    SortedMap<Double, double[]> first = line(run, contrast, contrast.first(), by);
    SortedMap<Double, double[]> second = line(run, contrast, contrast.second(), by);
    first.keySet().retainAll(second.keySet());
    second.keySet().retainAll(first.keySet());
    if (first.size() < 2) {
      return new Crossover(List.of(), Lead.NEITHER, first.size());
    }
    return Crossover.between(
        first.keySet().stream().mapToDouble(Double::doubleValue).toArray(),
        first.values().toArray(double[][]::new),
        second.values().toArray(double[][]::new),
        run.seed() ^ Integer.toUnsignedLong((contrast + by).hashCode()));
  }

  private static SortedMap<Double, double[]> line(
      RunData run, Contrast contrast, String value, String by) {
    SortedMap<Double, double[]> line = new TreeMap<>();
    for (SummaryRow row : run.rows()) {
      MetricRow metric = row.metrics().get(contrast.metric());
      if (metric != null
          && positive(metric.samples())
          && has(row, contrast.axis(), value)
          && (contrast.by().isEmpty() || has(row, contrast.by(), by))) {
        line.put(RunFigures.number(row, contrast.over()), metric.samples().values());
      }
    }
    return line;
  }

  private static boolean positive(Samples samples) {
    return samples.size() > 0 && Arrays.stream(samples.values()).allMatch(value -> value > 0);
  }

  static boolean has(SummaryRow row, String axis, String text) {
    Value value = row.axes().get(axis);
    return value != null && value.text().equals(text);
  }
}
