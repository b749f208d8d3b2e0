package dev.doorbell.experiments.run;

import dev.doorbell.core.problem.Problem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Finds runs by what people type: a directory, a run's name or its beginning, or a tag. */
public final class RunFinder {
  private final Path runs;

  /** Looks for names and tags in one folder of runs. */
  public RunFinder(Path runs) {
    this.runs = runs;
  }

  /**
   * The run that is meant: the directory of a run, else the newest run of that tag, else the one
   * run whose name begins so, else a directory that holds something else, for its reader to refuse.
   * {@code FOLDER/NAME} looks for NAME among the runs of that folder.
   *
   * @throws RunException when there is none, or more than one
   */
  public Path find(String text) throws RunException {
    Path direct = Path.of(text);
    if (Files.exists(direct.resolve(RunDirectory.RESOLVED))) {
      return direct;
    }
    Path folder = direct.getParent();
    if (folder != null && Files.isDirectory(folder) && !Files.isDirectory(direct)) {
      return new RunFinder(folder).find(String.valueOf(direct.getFileName()));
    }
    List<Path> all = runs();
    Optional<Path> exact = all.stream().filter(run -> name(run).equals(text)).findFirst();
    if (exact.isPresent()) {
      return exact.get();
    }
    List<Known> tagged =
        known().stream().filter(each -> each.manifest.tags().contains(text)).toList();
    if (!tagged.isEmpty()) {
      return tagged.getLast().path;
    }
    List<Path> named = all.stream().filter(run -> name(run).startsWith(text)).toList();
    if (named.size() == 1) {
      return named.getFirst();
    }
    if (Files.isDirectory(direct)) {
      return direct;
    }
    throw new RunException(
        RunException.Kind.UNREADABLE,
        Problem.of(
                "DB-R006",
                text,
                named.isEmpty()
                    ? "no run directory, and no run in %s has this name or tag".formatted(runs)
                    : "%d runs in %s begin so".formatted(named.size(), runs))
            .fix("give a directory or, for a run made with --out DIR, DIR/NAME"));
  }

  /**
   * A run of the folder.
   *
   * @param path its directory
   */
  public record Known(Path path, Manifest manifest) {}

  private static String name(Path run) {
    return String.valueOf(run.getFileName());
  }

  /**
   * Every run of the folder that has a manifest, the newest last; of runs that were started in the
   * same instant, the one that was made last.
   */
  public List<Known> known() {
    List<Known> known = new ArrayList<>();
    for (Path run : runs()) {
      Manifest manifest = manifest(run);
      if (manifest != null) {
        known.add(new Known(run, manifest));
      }
    }
    known.sort(
        Comparator.comparing((Known each) -> each.manifest.started())
            .thenComparing(each -> created(each.path)));
    return known;
  }

  private static FileTime created(Path run) {
    try {
      return Files.readAttributes(run, BasicFileAttributes.class).creationTime();
    } catch (IOException _) {
      return FileTime.fromMillis(0);
    }
  }

  private List<Path> runs() {
    try (Stream<Path> paths = Files.list(runs)) {
      return paths
          .filter(path -> !name(path).startsWith("."))
          .filter(Files::isDirectory)
          .sorted()
          .toList();
    } catch (IOException _) {
      return List.of();
    }
  }

  private static @Nullable Manifest manifest(Path run) {
    try {
      return Manifest.parse(RunDirectory.bytes(run.resolve(RunDirectory.MANIFEST)));
    } catch (IOException _) {
      return null;
    }
  }
}
