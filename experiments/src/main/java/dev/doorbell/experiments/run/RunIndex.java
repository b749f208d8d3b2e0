package dev.doorbell.experiments.run;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.Samples;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/**
 * A run as its directory tells it, without the samples: they are read a point at a time, so that
 * runs of any length can be compared.
 *
 * @param plan the whole plan
 * @param entries the journal's last word on each recorded point, in plan order
 */
public record RunIndex(Path path, Plan plan, Manifest manifest, List<JournalEntry> entries) {

  public RunIndex {
    entries = List.copyOf(entries);
  }

  /**
   * Reads a run directory.
   *
   * @throws RunException when it is none
   */
  public static RunIndex read(Path path) throws RunException {
    if (!Files.isDirectory(path)) {
      throw unreadable(path, "there is no such run directory", null);
    }
    if (!Files.exists(path.resolve(RunDirectory.RESOLVED))) {
      throw unreadable(path, "this is not a run directory: it has no resolved.yaml", null);
    }
    try {
      Plan plan =
          Plan.of(
              ConfigReader.ofRuns()
                  .read(
                      path.resolve(RunDirectory.RESOLVED).toString(),
                      Files.readString(path.resolve(RunDirectory.RESOLVED)),
                      List.of()));
      Manifest manifest =
          RunJson.MAPPER.readValue(
              Files.readAllBytes(path.resolve(RunDirectory.MANIFEST)), Manifest.class);
      List<JournalEntry> journal = Journal.read(path.resolve(RunDirectory.JOURNAL)).entries();
      return of(path, plan, manifest, journal);
    } catch (ConfigException e) {
      throw unreadable(path, "its resolved.yaml is damaged: " + e.problems().getFirst().what(), e);
    } catch (JacksonException e) {
      throw unreadable(path, "its manifest.json is damaged", e);
    } catch (IOException e) {
      throw unreadable(path, RunDirectory.reason(e), e);
    }
  }

  /**
   * A run directory whose files are known to say this.
   *
   * @param journal in the order in which it was written
   */
  public static RunIndex of(Path path, Plan plan, Manifest manifest, List<JournalEntry> journal) {
    return new RunIndex(path, plan, manifest, lastWords(plan, journal));
  }

  /** Returns this run after more entries of its journal. */
  public RunIndex after(List<JournalEntry> more) {
    List<JournalEntry> journal = new ArrayList<>(entries);
    journal.addAll(more);
    return of(path, plan, manifest, journal);
  }

  private static List<JournalEntry> lastWords(Plan plan, List<JournalEntry> journal) {
    Map<String, JournalEntry> latest = new HashMap<>();
    journal.forEach(entry -> latest.put(entry.point(), entry));
    List<JournalEntry> entries = new ArrayList<>();
    for (Point point : plan.points()) {
      JournalEntry entry = latest.get(point.id());
      if (entry != null) {
        entries.add(entry);
      }
    }
    return entries;
  }

  /** Name of the run directory. */
  public String id() {
    return String.valueOf(path.toAbsolutePath().normalize().getFileName());
  }

  /** Points that have a result, by id, in plan order. */
  public SequencedMap<String, JournalEntry> results() {
    SequencedMap<String, JournalEntry> results = new LinkedHashMap<>();
    entries.stream()
        .filter(entry -> entry.status() == JournalEntry.Status.OK)
        .forEach(entry -> results.put(entry.point(), entry));
    return results;
  }

  /**
   * Reads the samples of a point, each metric's values owned by who asked for them.
   *
   * @param wanted metrics to keep
   * @throws RunException when they are not what the journal vouches for
   */
  private List<Values> series(JournalEntry entry, Predicate<String> wanted) throws RunException {
    Path file = path.resolve(RunDirectory.SAMPLES).resolve(String.valueOf(entry.samples()));
    try (InputStream in = Files.newInputStream(file);
        DigestInputStream digested = new DigestInputStream(in, RunExecution.sha256())) {
      List<Values> series = SamplesReader.read(digested, wanted);
      String digest = HexFormat.of().formatHex(digested.getMessageDigest().digest());
      if (!digest.equals(entry.sha256())) {
        throw notVouchedFor(file);
      }
      return series;
    } catch (IOException e) {
      if (e.getMessage() != null && e.getMessage().startsWith(SamplesReader.NO_SAMPLES)) {
        throw notVouchedFor(file);
      }
      throw unreadable(file, RunDirectory.reason(e), e);
    }
  }

  /** As {@link #series} with every metric, to be kept. */
  List<Samples> samples(JournalEntry entry) throws RunException {
    return series(entry, _ -> true).stream()
        .map(series -> Samples.of(series.metric(), series.unit(), series.samples()))
        .toList();
  }

  /** The metrics of one point by name. */
  public SequencedMap<String, Values> values(JournalEntry entry, Predicate<String> wanted)
      throws RunException {
    SequencedMap<String, Values> values = new LinkedHashMap<>();
    series(entry, wanted).forEach(series -> values.put(series.metric(), series));
    return values;
  }

  /**
   * Samples of one metric, raw.
   *
   * @param samples in the order in which they were taken; the caller's own
   */
  @SuppressWarnings("ArrayRecordComponent") // millions of them, handed over once, never compared
  public record Values(String metric, String unit, double[] samples) {}

  private static RunException notVouchedFor(Path file) {
    return unreadable(file, "these samples are not the ones that the journal vouches for", null);
  }

  static RunException unreadable(Path path, String what, @Nullable Throwable cause) {
    Problem problem = Problem.of("DB-R003", path.toString(), what);
    return cause == null
        ? new RunException(RunException.Kind.UNREADABLE, problem)
        : new RunException(RunException.Kind.UNREADABLE, problem, cause);
  }
}
