package dev.doorbell.experiments.cli.paper;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** When the classes and kernels that run now were built. */
final class BuildTime {
  private BuildTime() {}

  /** Whether nothing of the class path is newer than {@code result}, which a run wrote last. */
  static boolean isBefore(Path result) {
    return isBefore(result, System.getProperty("java.class.path", ""));
  }

  static boolean isBefore(Path result, String classPath) {
    try {
      FileTime newest = FileTime.fromMillis(0);
      for (Path file : files(classPath)) {
        FileTime time = Files.getLastModifiedTime(file);
        newest = time.compareTo(newest) > 0 ? time : newest;
      }
      return newest.compareTo(Files.getLastModifiedTime(result)) <= 0;
    } catch (IOException _) {
      return false;
    }
  }

  private static List<Path> files(String classPath) throws IOException {
    List<Path> files = new ArrayList<>();
    for (String entry : classPath.split(File.pathSeparator, -1)) {
      Path path = Path.of(entry);
      if (Files.isDirectory(path)) {
        try (Stream<Path> tree = Files.walk(path)) {
          tree.filter(Files::isRegularFile).forEach(files::add);
        }
      } else if (Files.isRegularFile(path)) {
        files.add(path);
      }
    }
    return files;
  }
}
