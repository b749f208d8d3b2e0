package dev.doorbell.experiments.run;

import dev.doorbell.core.Basis;
import dev.doorbell.core.Sha256;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.config.value.RecordCopy;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.kernels.KernelFolders;
import dev.doorbell.experiments.kernels.UserKernel;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.Point;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Results of past runs in virtual time, by the hash of what decides them: the code's commit, the
 * environment, the user's kernels and the point with its seed. Points whose settings name files,
 * and code with changes that no commit has, have no such hash.
 */
public final class Reuse {
  private static final String DIRTY = "-dirty";

  /**
   * A result.
   *
   * @param point of the plan that needs it
   * @param run that has it
   * @param entry of that run's journal
   */
  public record Found(Point point, Path run, JournalEntry entry) {}

  private Reuse() {}

  /**
   * Finds points in the sealed runs of a folder that are as they were written, the newest first.
   *
   * @param version of Doorbell
   * @param git of the code, as {@link Machine#git} is
   * @param kernels of the user's, which the config names
   */
  public static List<Found> find(
      Path folder,
      String version,
      @Nullable String git,
      Environment environment,
      ExperimentConfig config,
      List<UserKernel> kernels,
      List<Point> points) {
    if (git == null || git.endsWith(DIRTY) || environment.basis() != Basis.MODELLED) {
      return List.of();
    }
    Map<String, Point> wanted = new HashMap<>();
    for (Point point : points) {
      if (point.settings().values().stream().noneMatch(Reuse::isFile)) {
        wanted.put(hash(environment, config, kernels, point), point);
      }
    }
    List<Found> found = new ArrayList<>();
    for (RunFinder.Known known : new RunFinder(folder).known().reversed()) {
      Manifest manifest = known.manifest();
      if (!wanted.isEmpty()
          && manifest.doorbell().equals(version)
          && git.equals(manifest.machine().git())
          && manifest.environment().equals(environment)) {
        take(known.path(), wanted, found);
      }
    }
    return found;
  }

  private static boolean isFile(Value value) {
    return value instanceof Value.Text(String text)
        && text.indexOf('\0') < 0
        && Files.exists(Path.of(text));
  }

  private static void take(Path path, Map<String, Point> wanted, List<Found> found) {
    try {
      RunIndex run = RunIndex.read(path);
      if (!run.sealed() || !run.damage().isEmpty()) {
        return;
      }
      List<UserKernel> kernels =
          KernelFolders.scan(List.of(RunDirectory.kernels(path)), List.of()).kernels();
      for (JournalEntry entry : run.results().values()) {
        Point past = run.plan().points().get(entry.index());
        String hash = hash(run.manifest().environment(), run.plan().config(), kernels, past);
        Point point = wanted.get(hash);
        if (point != null && samples(path, entry) != null) {
          found.add(new Found(point, path, entry));
          wanted.remove(hash);
        }
      }
    } catch (RunException | IOException _) {
      // A run that cannot be read has nothing to take; the commands that need it say why.
    }
  }

  /** Everything that decides the samples of a point, beside the code. */
  private static String hash(
      Environment environment, ExperimentConfig config, List<UserKernel> kernels, Point point) {
    Object alone =
        RecordCopy.with(point, Map.of("index", 0, "configHash", "", "timeout", Duration.ZERO));
    ExperimentConfig.Measure measure = config.measure();
    StringBuilder text = new StringBuilder();
    text.append(environment).append(measure.repeat()).append(measure.until()).append(alone);
    for (UserKernel kernel : kernels) {
      if (point.kernels().contains(kernel.name())) {
        text.append(kernel.descriptor().text()).append(kernel.ptx());
      }
    }
    return Sha256.hex(text.toString());
  }

  /** Returns the samples of a result, or null if they are not what the journal vouches for. */
  private static byte @Nullable [] samples(Path run, JournalEntry entry) throws IOException {
    byte[] samples = MergedRun.samples(run, entry);
    return samples != null && Sha256.hex(samples).equals(entry.sha256()) ? samples : null;
  }

  /**
   * Records results in a run of their own plan.
   *
   * @return its entries
   * @throws RunException when one was changed meanwhile, or the run takes no more
   */
  public static List<JournalEntry> record(RunDirectory directory, List<Found> found)
      throws RunException {
    List<JournalEntry> entries = new ArrayList<>();
    for (Found each : found) {
      try {
        byte[] samples = samples(each.run, each.entry);
        if (samples != null) {
          JournalEntry entry = RecordCopy.with(each.entry, Map.of("index", each.point.index()));
          directory.record(entry, samples);
          entries.add(entry);
        }
      } catch (IOException e) {
        throw RunIndex.unreadable(each.run, RunDirectory.reason(e), e);
      }
    }
    return entries;
  }
}
