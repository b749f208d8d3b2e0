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
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;

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
   * Returns the faults that had to fire and did not. In a shard, or before its end, a run misses
   * none: they may strike what is still to come.
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

  /**
   * Parts of one plan that were run apart, such as shards, as one run. Parts may overlap where they
   * agree to the byte.
   *
   * @param parts at least one
   * @throws RunException when they are not of one plan, or contradict each other
   */
  public static StoredRun merge(List<StoredRun> parts) throws RunException {
    StoredRun first = parts.getFirst();
    SequencedMap<String, JournalEntry> entries = new LinkedHashMap<>();
    SequencedMap<String, SummaryRow> rows = new LinkedHashMap<>();
    for (StoredRun part : parts) {
      if (!part.data.configHash().equals(first.data.configHash())) {
        throw apart(part, "it is of another config than %s".formatted(first.data.runId()));
      }
      if (part.data.basis() != first.data.basis()) {
        throw apart(
            part,
            "its numbers are %s, those of %s are %s"
                .formatted(
                    part.data.basis().word(), first.data.runId(), first.data.basis().word()));
      }
      for (JournalEntry entry : part.entries) {
        JournalEntry known = entries.get(entry.point());
        if (known == null || known.status() != JournalEntry.Status.OK) {
          entries.put(entry.point(), entry);
        } else if (entry.status() == JournalEntry.Status.OK
            && !Objects.equals(known.sha256(), entry.sha256())) {
          throw apart(
              part, "its samples of %s differ from another part's".formatted(entry.point()));
        }
      }
      part.data.rows().forEach(row -> rows.putIfAbsent(row.pointId(), row));
    }
    List<String> order = first.plan.points().stream().map(Point::id).toList();
    return of(
        new RunIndex(
            first.path,
            first.plan,
            first.manifest,
            List.of(),
            parts.stream().flatMap(part -> part.damage.stream()).toList()),
        parts.stream().map(part -> part.data.runId()).collect(Collectors.joining("+")),
        order.stream().map(entries::get).filter(Objects::nonNull).toList(),
        order.stream().map(rows::get).filter(Objects::nonNull).toList());
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

  private static RunException apart(StoredRun part, String what) {
    return new RunException(
        RunException.Kind.UNREADABLE,
        Problem.of("DB-R005", part.path.toString(), what)
            .effect("runs are merged only where they are parts of one plan")
            .fix("to see what changed between two runs: doorbell compare RUN RUN"));
  }
}
