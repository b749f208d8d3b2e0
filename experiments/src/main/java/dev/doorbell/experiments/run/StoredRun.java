package dev.doorbell.experiments.run;

import dev.doorbell.experiments.config.ConfigException;
import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.config.Problem;
import dev.doorbell.experiments.config.Vocabulary;
import dev.doorbell.experiments.plan.FaultTally;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.plan.Samples;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/**
 * A run read back from its directory. Tables, summaries and figures are made from this alone.
 *
 * @param data the finished points
 * @param entries the journal's last word on each recorded point, in plan order
 * @param plan the whole plan
 */
public record StoredRun(
    Path path, RunData data, List<JournalEntry> entries, Plan plan, Manifest manifest) {

  public StoredRun {
    entries = List.copyOf(entries);
  }

  /** What the fault plan did in all points, in the order of the plan. */
  public List<FaultTally> faults() {
    return FaultTally.total(entries.stream().map(JournalEntry::faults).toList());
  }

  /** Points that have no result yet, in plan order. */
  public List<Point> unfinished() {
    List<String> finished = RunDirectory.finished(entries);
    return plan.points().stream().filter(point -> !finished.contains(point.id())).toList();
  }

  /**
   * Reads a run directory.
   *
   * @throws RunException when it is none, or when samples are not what the journal vouches for
   */
  public static StoredRun read(Path path) throws RunException {
    if (!Files.isDirectory(path)) {
      throw unreadable(path, "there is no such run directory", null);
    }
    if (!Files.exists(path.resolve(RunDirectory.RESOLVED))) {
      throw unreadable(path, "this is not a run directory: it has no resolved.yaml", null);
    }
    try {
      ExperimentConfig config =
          new ConfigReader(Vocabulary.anything())
              .read(
                  path.resolve(RunDirectory.RESOLVED).toString(),
                  Files.readString(path.resolve(RunDirectory.RESOLVED)),
                  List.of());
      Manifest manifest =
          RunJson.MAPPER.readValue(
              Files.readAllBytes(path.resolve(RunDirectory.MANIFEST)), Manifest.class);
      List<JournalEntry> journal = Journal.read(path.resolve(RunDirectory.JOURNAL)).entries();
      return assemble(path, config, manifest, journal);
    } catch (ConfigException e) {
      throw unreadable(path, "its resolved.yaml is damaged: " + e.problems().getFirst().what(), e);
    } catch (JacksonException e) {
      throw unreadable(path, "its manifest.json is damaged", e);
    } catch (IOException e) {
      throw unreadable(path, RunDirectory.reason(e), e);
    }
  }

  private static StoredRun assemble(
      Path path, ExperimentConfig config, Manifest manifest, List<JournalEntry> journal)
      throws IOException, RunException {
    Plan plan = Plan.of(config);
    Map<String, JournalEntry> latest = new HashMap<>();
    journal.forEach(entry -> latest.put(entry.point(), entry));
    List<JournalEntry> entries = new ArrayList<>();
    List<SummaryRow> rows = new ArrayList<>();
    for (Point point : plan.points()) {
      JournalEntry entry = latest.get(point.id());
      if (entry != null) {
        entries.add(entry);
        if (entry.status() == JournalEntry.Status.OK) {
          rows.add(row(path, point, entry));
        }
      }
    }
    RunData data =
        new RunData(
            String.valueOf(path.toAbsolutePath().normalize().getFileName()),
            config.name(),
            config.question(),
            config.hash(),
            Optional.ofNullable(manifest.machine().git()),
            manifest.basis(),
            config.seed(),
            config.axes(),
            rows,
            config.figures(),
            config.contrasts());
    return new StoredRun(path, data, entries, plan, manifest);
  }

  private static SummaryRow row(Path path, Point point, JournalEntry entry)
      throws IOException, RunException {
    Path file = path.resolve(RunDirectory.SAMPLES).resolve(String.valueOf(entry.samples()));
    byte[] bytes = Files.readAllBytes(file);
    if (!RunExecution.sha256(bytes).equals(entry.sha256())) {
      throw unreadable(file, "these samples are not the ones that the journal vouches for", null);
    }
    Prediction prediction = new Prediction(entry.prediction());
    SequencedMap<String, MetricRow> metrics = new LinkedHashMap<>();
    for (Samples samples : SamplesFile.decode(bytes)) {
      metrics.put(samples.metric(), new MetricRow(samples, prediction.of(samples.metric())));
    }
    return new SummaryRow(point.id(), point.axes(), metrics, entry.counters(), point.seed());
  }

  private static RunException unreadable(Path path, String what, @Nullable Throwable cause) {
    Problem problem = Problem.of("DB-R003", path.toString(), what);
    return cause == null
        ? new RunException(RunException.Kind.UNREADABLE, problem)
        : new RunException(RunException.Kind.UNREADABLE, problem, cause);
  }
}
