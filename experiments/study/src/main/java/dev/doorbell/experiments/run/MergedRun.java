package dev.doorbell.experiments.run;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.value.RecordCopy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Makes one run of the parts of a plan that were run apart, such as the shards of a sweep. */
public final class MergedRun {
  private static final List<String> CONFIGS = List.of(RunDirectory.CONFIG, RunDirectory.RESOLVED);

  private MergedRun() {}

  /**
   * Writes the parts as one sealed run. Where points of the plan are missing it is an interrupted
   * one, with which {@code run --resume} goes on.
   *
   * @param parts at least one
   * @param arguments of the command, for the manifest
   * @return its directory, open for what is made from its samples
   * @throws RunException when they are not of one plan and one choice of devices, or contradict
   *     each other
   */
  public static RunDirectory write(
      Disk disk, Path parent, List<StoredRun> parts, List<String> arguments, Instant now)
      throws RunException {
    StoredRun whole = StoredRun.merge(parts);
    Manifest first = whole.manifest();
    for (StoredRun part : parts) {
      if (!part.manifest().environment().equals(first.environment())) {
        throw RunException.unreadable(
            Problem.of(
                    "DB-R005",
                    part.path().toString(),
                    "it ran on other devices than the first part")
                .fix("to see what changed between two runs: doorbell compare RUN RUN"));
      }
    }
    RunDirectory directory = RunDirectory.prepare(disk, parent, whole.plan().config(), now);
    try {
      Path from = parts.getFirst().path();
      for (String config : CONFIGS) {
        directory.write(config, Files.readString(from.resolve(config)));
      }
      copyKernels(disk, RunDirectory.kernels(from), RunDirectory.kernels(directory.path()));
      Manifest manifest = manifest(whole, parts, directory.id(), arguments);
      manifest.write(directory);
      directory.publish();
      Map<String, Path> places = new HashMap<>();
      parts.forEach(
          part -> part.entries().forEach(entry -> places.putIfAbsent(key(entry), part.path())));
      for (JournalEntry entry : whole.entries()) {
        Path part = places.getOrDefault(key(entry), from);
        directory.record(entry, samples(part, entry));
      }
      manifest
          .ended(
              whole.unfinished().isEmpty() ? Manifest.State.COMPLETE : Manifest.State.INTERRUPTED,
              now,
              whole.entries().size())
          .write(directory);
      directory.seal();
      return directory;
    } catch (IOException e) {
      directory.close();
      throw RunIndex.unreadable(directory.path(), RunDirectory.reason(e), e);
    } catch (RunException e) {
      directory.close();
      throw e;
    }
  }

  static byte @Nullable [] samples(Path part, JournalEntry entry) throws IOException {
    return entry.samples() == null
        ? null
        : Files.readAllBytes(part.resolve(RunDirectory.SAMPLES).resolve(entry.samples()));
  }

  private static String key(JournalEntry entry) {
    return entry.point() + " " + entry.sha256() + " " + entry.status();
  }

  private static void copyKernels(Disk disk, Path from, Path to) throws IOException {
    if (!Files.isDirectory(from)) {
      return;
    }
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Path copy = to.resolve(from.relativize(file));
        Files.createDirectories(copy.resolveSibling(""));
        disk.replace(copy, Files.readAllBytes(file));
      }
    }
  }

  private static Manifest manifest(
      StoredRun whole, List<StoredRun> parts, String id, List<String> arguments) {
    return RecordCopy.with(
        whole.manifest(),
        Map.of(
            "run",
            id,
            "arguments",
            arguments,
            "tags",
            parts.stream().flatMap(part -> part.manifest().tags().stream()).distinct().toList(),
            "schedule",
            PointSchedule.of(whole.plan(), false, null),
            "state",
            Manifest.State.RUNNING,
            "points",
            whole.plan().points().size(),
            "recorded",
            0));
  }
}
