package dev.doorbell.interop.serve;

import dev.doorbell.interop.control.ControlLine.Refused;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/** The folder below which clients may have captures written. */
final class CaptureFolder {
  private final Path root;

  /**
   * @param folder exists
   */
  CaptureFolder(Path folder) throws IOException {
    root = folder.toRealPath();
    if (!Files.isDirectory(root)) {
      throw new IOException("%s is no folder".formatted(folder));
    }
  }

  /**
   * Creates an empty file.
   *
   * @param name relative to the folder; no part of it is {@code ..} or a symbolic link
   * @throws Refused when the name leaves the folder, or the file exists
   */
  Path create(String name) throws Refused {
    try {
      Path file = root;
      for (Path part : checked(name)) {
        if (!Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
          throw new Refused(
              "'%s' is a symbolic link or no folder".formatted(root.relativize(file)));
        }
        file = file.resolve(part);
      }
      return Files.createFile(file);
    } catch (FileAlreadyExistsException e) {
      throw new Refused("%s exists already".formatted(name));
    } catch (InvalidPathException | IOException e) {
      throw new Refused("cannot write %s: %s".formatted(name, e.getMessage()));
    }
  }

  private static Path checked(String name) throws Refused {
    Path path = Path.of(name);
    boolean leaves = path.isAbsolute() || name.isEmpty();
    for (Path part : path) {
      String text = part.toString();
      leaves |= text.equals("..") || text.equals(".");
    }
    if (leaves) {
      throw new Refused(
          "'%s': captures go below the folder that 'hca serve --captures' names; give a file name"
              .formatted(name));
    }
    return path;
  }
}
