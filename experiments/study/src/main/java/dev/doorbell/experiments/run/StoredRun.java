package dev.doorbell.experiments.run;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.plan.FaultTally;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.plan.Samples;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.concurrent.CompletionException;

/**
 * A run read back from its directory. Tables, summaries and figures are made from this alone.
 *
 * @param data the finished points
 * @param entries the journal's last word on each recorded point, in plan order
 * @param plan the whole plan
 * @param damage what of the directory is not as it was written; the rest is kept
 */
public record StoredRun(
    Path path,
    RunData data,
    List<JournalEntry> entries,
    Plan plan,
    Manifest manifest,
    List<Problem> damage) {

  public StoredRun {
    entries = List.copyOf(entries);
    damage = List.copyOf(damage);
  }

  /** Returns what each fault did in all points, in the order of the fault plan. */
  public List<FaultTally> faults() {
    return FaultTally.total(entries.stream().map(JournalEntry::faults).toList());
  }

  /** Points that have no result yet, in plan order. */
  public List<Point> unfinished() {
    List<String> finished = RunDirectory.finished(entries);
    return plan.points().stream().filter(point -> !finished.contains(point.id())).toList();
  }

  /**
   * Returns the faults that had to fire and did not. Before its end a run misses none: they may
   * strike what is still to come.
   */
  public List<FaultTally> missedFaults() {
    return unfinished().isEmpty()
        ? faults().stream().filter(FaultTally::missed).toList()
        : List.of();
  }

  /** Reads a run directory. */
  public static StoredRun read(Path path) throws RunException {
    return read(RunIndex.read(path));
  }

  /** Reads the samples of a run whose other files are known. */
  public static StoredRun read(RunIndex index) throws RunException {
    return of(index, index.id(), index.entries(), rows(index));
  }

  /** All of them, read and checked by as many threads as there are processors. */
  private static List<SummaryRow> rows(RunIndex index) throws RunException {
    try {
      return index.results().values().parallelStream()
          .map(
              entry -> {
                try {
                  return row(index, index.plan().points().get(entry.index()), entry);
                } catch (RunException e) {
                  throw new CompletionException(e);
                }
              })
          .toList();
    } catch (CompletionException e) {
      // Another thread's comes wrapped once more.
      for (Throwable cause = e; cause != null; cause = cause.getCause()) {
        if (cause instanceof RunException why) {
          throw why;
        }
      }
      throw e;
    }
  }

  private static StoredRun of(
      RunIndex index, String id, List<JournalEntry> entries, List<SummaryRow> rows) {
    ExperimentConfig config = index.plan().config();
    RunData data =
        RunData.of(
            id,
            config,
            Optional.ofNullable(index.manifest().machine().git()),
            index.manifest().basis(),
            rows);
    return new StoredRun(
        index.path(), data, entries, index.plan(), index.manifest(), index.damage());
  }

  private static SummaryRow row(RunIndex index, Point point, JournalEntry entry)
      throws RunException {
    Prediction prediction = new Prediction(entry.prediction());
    SequencedMap<String, MetricRow> metrics = new LinkedHashMap<>();
    for (Samples samples : index.samples(entry)) {
      metrics.put(
          samples.metric(),
          new MetricRow(samples, prediction.of(samples.metric()), index.processes()));
    }
    return new SummaryRow(point.id(), point.axes(), metrics, entry.counters(), point.seed());
  }
}
