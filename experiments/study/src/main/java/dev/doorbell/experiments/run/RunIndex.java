package dev.doorbell.experiments.run;

import dev.doorbell.core.Basis;
import dev.doorbell.core.Sha256;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.kernels.KernelFolders;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.Samples;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
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

/**
 * A run as its directory describes it, without the samples: they are read a point at a time, so
 * that runs of any length can be compared.
 *
 * @param plan the whole plan
 * @param entries the journal's last word on each recorded point, in plan order
 * @param damage what of the directory is not as it was written; the rest is kept
 */
public record RunIndex(
    Path path, Plan plan, Manifest manifest, List<JournalEntry> entries, List<Problem> damage) {

  public RunIndex {
    entries = List.copyOf(entries);
    damage = List.copyOf(damage);
  }

  /** Reads a run directory. */
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
              ConfigReader.ofRuns(KernelFolders.extensions(RunDirectory.kernels(path)))
                  .read(
                      path.resolve(RunDirectory.RESOLVED).toString(),
                      new String(
                          RunDirectory.bytes(path.resolve(RunDirectory.RESOLVED)),
                          StandardCharsets.UTF_8),
                      List.of()));
      Manifest manifest =
          read(
              path.resolve(RunDirectory.MANIFEST),
              "manifest",
              file -> Manifest.parse(RunDirectory.bytes(file)));
      Journal.Contents journal = journal(path.resolve(RunDirectory.JOURNAL), plan);
      for (JournalEntry entry : journal.entries()) {
        if (entry.basis() != null && entry.basis() != manifest.basis()) {
          throw unreadable(
              path.resolve(RunDirectory.MANIFEST),
              "it says that numbers are %s, and those of point '%s' are %s"
                  .formatted(manifest.basis().word(), entry.point(), entry.basis().word()),
              null);
        }
      }
      return new RunIndex(
          path,
          plan,
          manifest,
          lastWords(plan, journal.entries()),
          damage(path, plan, manifest, journal));
    } catch (ConfigException e) {
      throw unreadable(path, "its resolved.yaml is damaged: " + e.problems().getFirst().what(), e);
    } catch (IOException e) {
      throw unreadable(path, RunDirectory.reason(e), e);
    }
  }

  /** Reads one file of a run. */
  private interface Reading<T> {
    T read(Path file) throws IOException;
  }

  private static <T> T read(Path file, String kind, Reading<T> reading) throws RunException {
    try {
      return reading.read(file);
    } catch (FileSystemException e) {
      throw unreadable(file, RunDirectory.reason(e), e);
    } catch (IOException e) {
      throw unreadable(file, "this %s cannot be read: %s".formatted(kind, e.getMessage()), e);
    }
  }

  private static Journal.Contents journal(Path file, Plan plan) throws RunException {
    Journal.Contents journal = read(file, "journal", Journal::read);
    for (JournalEntry entry : journal.entries()) {
      if (!isOf(plan, entry)) {
        throw unreadable(
            file,
            "it speaks of '%s', which is no point of the plan".formatted(entry.point()),
            null);
      }
    }
    return journal;
  }

  private static boolean isOf(Plan plan, JournalEntry entry) {
    boolean known =
        entry.index() >= 0
            && entry.index() < plan.points().size()
            && plan.points().get(entry.index()).id().equals(entry.point());
    return known
        && (entry.status() != JournalEntry.Status.OK
            || SamplesFile.name(entry.point()).equals(entry.samples()));
  }

  private static List<Problem> damage(
      Path path, Plan plan, Manifest manifest, Journal.Contents journal) throws IOException {
    List<Problem> damage = new ArrayList<>();
    if (!plan.config().hash().equals(manifest.configHash())) {
      damage.add(edited(path, plan, manifest));
    }
    damage.addAll(
        Seal.broken(path, manifest.state() == Manifest.State.RUNNING || !journal.chained()));
    for (Journal.BadLine line : journal.bad()) {
      damage.add(
          Problem.of(
                  "DB-R010",
                  "%s:%d".formatted(path.resolve(RunDirectory.JOURNAL), line.number()),
                  "this line is damaged: " + line.why())
              .effect("its point counts as not run; the other lines are kept")
              .fix("doorbell run --resume %s runs it again".formatted(path)));
    }
    return damage;
  }

  private static Problem edited(Path path, Plan plan, Manifest manifest) {
    return Problem.of(
            "DB-R011",
            path.resolve(RunDirectory.RESOLVED).toString(),
            "it was edited after the run began: it is config %.8s, and the manifest names %.8s"
                .formatted(plan.config().hash(), manifest.configHash()))
        .effect("its points were not measured with these settings")
        .fix("undo the edit, or start a new run with it: doorbell run FILE");
  }

  /**
   * Stops when the config is not the one that the run began with.
   *
   * @throws RunException when points measured now would not belong to those before
   */
  public void requireSameConfig() throws RunException {
    if (!plan.config().hash().equals(manifest.configHash())) {
      throw RunException.unreadable(edited(path, plan, manifest));
    }
  }

  /**
   * Returns this run without the points whose samples are not those that the journal vouches for,
   * so that they are measured again; {@link #damage} has the problem of each.
   */
  public RunIndex withoutDamagedSamples() {
    List<JournalEntry> sound = new ArrayList<>();
    List<Problem> all = new ArrayList<>(damage);
    for (JournalEntry entry : entries) {
      try {
        if (entry.status() == JournalEntry.Status.OK) {
          series(entry, _ -> false);
        }
        sound.add(entry);
      } catch (RunException e) {
        all.add(e.problem());
      }
    }
    return new RunIndex(path, plan, manifest, sound, all);
  }

  /** A run directory whose files are known to say this. */
  public static RunIndex of(Path path, Plan plan, Manifest manifest, List<JournalEntry> journal) {
    return new RunIndex(path, plan, manifest, lastWords(plan, journal), List.of());
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

  /** Returns whether the run has the seal of its end. */
  public boolean sealed() {
    return Files.exists(path.resolve(Seal.FILE));
  }

  public String id() {
    return String.valueOf(path.toAbsolutePath().normalize().getFileName());
  }

  /** Processes that took the samples of each point; 1 in virtual time, where they are all alike. */
  public int processes() {
    return manifest.basis() == Basis.MODELLED ? 1 : plan.config().measure().processes();
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
    try (InputStream in = Files.newInputStream(RunDirectory.regular(file));
        DigestInputStream digested = new DigestInputStream(in, Sha256.digest())) {
      List<Values> series = SamplesFile.read(digested, wanted);
      String digest = HexFormat.of().formatHex(digested.getMessageDigest().digest());
      if (!digest.equals(entry.sha256())) {
        throw notVouchedFor(file, "these samples are not the ones that the journal vouches for");
      }
      return series;
    } catch (IOException e) {
      if (e.getMessage() != null && e.getMessage().startsWith(SamplesFile.NO_SAMPLES)) {
        throw notVouchedFor(file, "these samples are not the ones that the journal vouches for");
      }
      throw notVouchedFor(file, RunDirectory.reason(e));
    }
  }

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

  @SuppressWarnings("ArrayRecordComponent") // millions of them, handed over once, never compared
  public record Values(String metric, String unit, double[] samples) {}

  private RunException notVouchedFor(Path file, String what) {
    return RunException.unreadable(
        Problem.of("DB-R003", file.toString(), what)
            .effect("the point has no result that can be trusted")
            .fix("measure this point again, and it alone: doorbell run --resume " + path));
  }

  static RunException unreadable(Path path, String what, @Nullable Throwable cause) {
    Problem problem = Problem.of("DB-R003", path.toString(), what);
    return cause == null
        ? new RunException(RunException.Kind.UNREADABLE, problem)
        : new RunException(RunException.Kind.UNREADABLE, problem, cause);
  }
}
