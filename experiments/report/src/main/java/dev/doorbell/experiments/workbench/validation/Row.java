package dev.doorbell.experiments.workbench.validation;

/**
 * One published measurement.
 *
 * @param id unique among the rows that are checked together
 * @param machine as its source names it, such as {@code P-IB}
 * @param what was measured, in words
 * @param setup around it, in words
 * @param metric as its source names it, in words
 * @param value that was measured, not 0
 * @param unit {@code us}, {@code ns}, {@code M/s} or {@code GB/s}
 * @param config how the model runs it, as {@link RowConfig} reads it; empty where its id says that
 * @param bar relative error up to which it counts as met, such as 0.15
 * @param place where it stands: file and line
 */
public record Row(
    String id,
    String machine,
    String what,
    String setup,
    String metric,
    double value,
    String unit,
    String config,
    double bar,
    String place) {

  /** The row with another config. */
  Row bound(String other) {
    return new Row(id, machine, what, setup, metric, value, unit, other, bar, place);
  }
}
