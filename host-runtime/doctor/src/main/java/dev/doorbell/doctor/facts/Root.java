package dev.doorbell.doctor.facts;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The files of a machine below one folder: {@code /}, or a copy of another machine's. Whatever
 * cannot be read is absent: sysfs answers some reads with an error where others would leave a file
 * out.
 */
final class Root {
  /** More than any file that is read here; proc and sys give sizes that say nothing. */
  private static final int MOST_BYTES = 1 << 20;

  private final Path folder;

  Root(Path folder) {
    this.folder = folder;
  }

  private Path at(String path) {
    return folder.resolve(path);
  }

  boolean exists(String path) {
    return Files.exists(at(path));
  }

  Optional<byte[]> bytes(String path) {
    try (InputStream in = Files.newInputStream(at(path))) {
      return Optional.of(in.readNBytes(MOST_BYTES));
    } catch (IOException | InvalidPathException | SecurityException _) {
      return Optional.empty();
    }
  }

  /** The file's text less the white space around it. */
  Optional<String> text(String path) {
    return bytes(path).map(bytes -> new String(bytes, StandardCharsets.UTF_8).strip());
  }

  List<String> lines(String path) {
    return text(path).map(text -> text.lines().toList()).orElse(List.of());
  }

  /** A number in decimal, or in hexadecimal after {@code 0x}. */
  Optional<Long> number(String path) {
    return text(path).flatMap(Root::number0);
  }

  private static Optional<Long> number0(String text) {
    try {
      return Optional.of(Long.decode(text));
    } catch (NumberFormatException _) {
      return Optional.empty();
    }
  }

  /** Names in a folder, sorted; none where there is no folder. */
  List<String> names(String path) {
    try (Stream<Path> entries = Files.list(at(path))) {
      return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
    } catch (IOException | SecurityException _) {
      return List.of();
    }
  }

  /** The last part of what a symbolic link points to. */
  Optional<String> target(String path) {
    try {
      return Optional.ofNullable(Files.readSymbolicLink(at(path)).getFileName())
          .map(Path::toString);
    } catch (IOException | UnsupportedOperationException _) {
      return Optional.empty();
    }
  }

  /** The parts of a path after every symbolic link on the way is followed. */
  List<String> realParts(String path) {
    try {
      return Stream.iterate(at(path).toRealPath(), part -> part != null, Path::getParent)
          .map(Path::getFileName)
          .filter(name -> name != null)
          .map(Path::toString)
          .toList()
          .reversed();
    } catch (IOException | SecurityException _) {
      return List.of();
    }
  }
}
